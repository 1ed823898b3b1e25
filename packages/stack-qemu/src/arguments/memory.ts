import { errors } from "@polyvirt/stack";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { MemoryBacking } from "./memory-backing.ts";
import { addNumaCells } from "./numa.ts";
import { scaleToBytes, sizeInBytes } from "./size.ts";

const kibibyte = 1024;

/** `-m`, and memory objects where the definition says how the memory is to be had or how it is divided. */
export function addMemory(domain: DomainSection, plan: MachinePlan): void {
  const memory = domain.requireChild("memory");
  const bytes = sizeInBytes(memory);
  if (bytes === 0) throw errors.StackDefinitionRefused("read memory: a machine needs some");
  // What the guest has at first is the balloon's business; KubeVirt always writes the same as `memory`.
  domain.child("currentMemory")?.skip("unit", "value");
  const max = domain.child("maxMemory");
  plan.addKeyValues("-m", `size=${Math.ceil(bytes / kibibyte)}k`, {
    slots: max?.number("slots"),
    maxmem: max === undefined ? undefined : `${Math.ceil(sizeInBytes(max) / kibibyte)}k`,
  });
  // Cores of a guest hold its secrets; the definition has to ask for them.
  plan.setMachine({ "dump-guest-core": memory.toggle("dumpCore") ?? false });
  const backing = readBacking(domain, plan);
  if (addNumaCells(domain, backing, plan)) return;
  if (backing.given) {
    const id = plan.architecture.memoryId;
    plan.addObject(backing.type, id, { ...backing.properties, size: bytes });
    plan.setMachine({ "memory-backend": id });
  }
}

function readBacking(domain: DomainSection, plan: MachinePlan): MemoryBacking {
  const backing = domain.child("memoryBacking");
  if (backing === undefined) return { given: false, type: "memory-backend-ram", properties: {} };
  const huge = backing.child("hugepages");
  const [page, ...others] = huge?.children("pages") ?? [];
  if (others.length > 0) throw backing.refuse("hugepages", "one page size for the whole guest is all it can do");
  if (page?.has("nodeset")) throw page.refuse("nodeset", "page sizes by NUMA node are not supported");
  const source = backing.child("source")?.oneOf("type", ["memfd", "anonymous"]);
  const shared = backing.child("access")?.oneOf("mode", ["shared", "private"]) === "shared";
  const allocation = backing.child("allocation");
  const immediate = allocation?.oneOf("mode", ["immediate", "ondemand"]) === "immediate";
  plan.addOption("-overcommit", `mem-lock=${backing.child("locked") === undefined ? "off" : "on"}`);
  // Given back to the host when the guest ends, with its process.
  backing.skip("discard");
  return {
    given: true,
    type: source === "memfd" || shared || huge !== undefined ? "memory-backend-memfd" : "memory-backend-ram",
    properties: {
      share: shared,
      prealloc: immediate || huge !== undefined,
      "prealloc-threads": allocation?.number("threads"),
      merge: backing.child("nosharepages") === undefined ? undefined : false,
      hugetlb: huge === undefined ? undefined : true,
      hugetlbsize:
        page === undefined ? undefined : scaleToBytes(page.number("size") ?? 0, page.text("unit"), page.path),
    },
  };
}
