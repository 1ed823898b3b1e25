import { errors } from "@polyvirt/stack";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import { memoryBackings } from "./memory-backing.ts";
import { moduleBytes } from "./memory-device.ts";
import { addNumaCells } from "./numa.ts";
import { alignMemory, sizeInBytes } from "./size.ts";

const kibibyte = 1024;

/** `-m`, and memory objects where the definition says how the memory is to be had or how it is divided. */
export function addMemory(domain: DomainSection, plan: MachinePlan): void {
  const backingOf = memoryBackings(domain, plan.host);
  const memory = domain.child("memory");
  const cells = addNumaCells(domain, backingOf, plan);
  // The definition's memory is all of it; what sits in modules comes on top of what QEMU starts with.
  const total = memory === undefined ? cells + moduleBytes(domain) : sizeInBytes(memory);
  const bytes = cells > 0 ? cells : alignMemory(total - moduleBytes(domain));
  if (bytes <= 0) throw errors.StackDefinitionRefused("read memory: a machine needs some, beside that of its modules");
  const max = domain.child("maxMemory");
  plan.addKeyValues("-m", `size=${bytes / kibibyte}k`, {
    slots: max?.number("slots"),
    maxmem: max === undefined ? undefined : `${alignMemory(sizeInBytes(max)) / kibibyte}k`,
  });
  // Cores of a guest hold its secrets; the definition has to ask for them.
  plan.setMachine({ "dump-guest-core": memory?.toggle("dumpCore") ?? false });
  addFirstSize(domain, alignMemory(total), plan);
  const given = domain.child("memoryBacking");
  if (given !== undefined) plan.addOption("-overcommit", `mem-lock=${given.has("locked") ? "on" : "off"}`);
  given?.skip("locked");
  plan.sharedMemory = given?.child("access")?.text("mode") === "shared";
  const backing = backingOf(0);
  if (cells > 0 || !backing.given) return;
  const id = plan.architecture.memoryId;
  plan.addObject(backing.type, id, { ...backing.properties, size: bytes });
  plan.setMachine({ "memory-backend": id });
}

/** A guest that begins with less than it may have gives the rest back through its balloon. */
function addFirstSize(domain: DomainSection, total: number, plan: MachinePlan): void {
  const current = domain.child("currentMemory");
  if (current === undefined) return;
  const bytes = sizeInBytes(current);
  if (alignMemory(bytes) >= total) return;
  const balloon = domain.requireChild("devices").child("memballoon");
  if (balloon === undefined || balloon.text("model") === "none") {
    throw domain.refuse("currentMemory", "only a guest with devices.memballoon can begin with less than its memory");
  }
  plan.addAfterStart({ command: "balloon", args: { value: bytes } });
}
