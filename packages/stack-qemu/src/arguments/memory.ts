import { errors } from "../errors.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import { sizeInBytes } from "./size.ts";

const kibibyte = 1024;

/** `-m`, and a memory object of its own where the definition says how the memory is to be had. */
export function addMemory(domain: DomainSection, plan: MachinePlan): void {
  const bytes = sizeInBytes(domain.requireChild("memory"));
  if (bytes === 0) throw errors.StackDefinitionRefused("read memory: a machine needs some");
  // What the guest has at first is the balloon's business; KubeVirt always writes the same as `memory`.
  domain.child("currentMemory")?.skip("unit", "value");
  const max = domain.child("maxMemory");
  plan.addKeyValues("-m", `size=${Math.ceil(bytes / kibibyte)}k`, {
    slots: max?.number("slots"),
    maxmem: max === undefined ? undefined : `${Math.ceil(sizeInBytes(max) / kibibyte)}k`,
  });
  // Cores of a guest hold its secrets; the definition has to ask for them.
  plan.setMachine({ "dump-guest-core": domain.child("memory")?.toggle("dumpCore") ?? false });
  addBacking(domain, plan, bytes);
}

function addBacking(domain: DomainSection, plan: MachinePlan, bytes: number): void {
  const backing = domain.child("memoryBacking");
  if (backing === undefined) return;
  const pages = backing.child("hugepages")?.children("pages") ?? [];
  const page = pages[0];
  if (pages.length > 1) throw backing.refuse("hugepages", "one page size for the whole guest is all it can do");
  if (page?.has("nodeset")) throw page.refuse("nodeset", "page sizes by NUMA node are not supported");
  const source = backing.child("source")?.oneOf("type", ["memfd", "anonymous"]);
  const shared = backing.child("access")?.oneOf("mode", ["shared", "private"]) === "shared";
  const allocation = backing.child("allocation");
  const prealloc = allocation?.oneOf("mode", ["immediate", "ondemand"]) === "immediate";
  const properties = {
    size: bytes,
    share: shared,
    prealloc: prealloc || backing.has("hugepages"),
    "prealloc-threads": allocation?.number("threads"),
    "host-nodes": undefined,
    merge: backing.child("nosharepages") === undefined ? undefined : false,
  };
  const id = plan.architecture.memoryId;
  if (source === "memfd" || shared || backing.has("hugepages")) {
    plan.addObject("memory-backend-memfd", id, {
      ...properties,
      ...(backing.has("hugepages") && {
        hugetlb: true,
        hugetlbsize: page === undefined ? undefined : pageBytes(page.number("size") ?? 0, page.text("unit")),
      }),
    });
  } else {
    plan.addObject("memory-backend-ram", id, properties);
  }
  plan.setMachine({ "memory-backend": id });
  plan.addOption("-overcommit", `mem-lock=${backing.child("locked") === undefined ? "off" : "on"}`);
  backing.skip("discard");
}

function pageBytes(size: number, unit = "KiB"): number {
  const factors: Readonly<Record<string, number>> = {
    b: 1,
    KiB: kibibyte,
    k: kibibyte,
    M: 1024 ** 2,
    MiB: 1024 ** 2,
    G: 1024 ** 3,
    GiB: 1024 ** 3,
  };
  return size * (factors[unit] ?? kibibyte);
}
