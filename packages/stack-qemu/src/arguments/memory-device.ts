import type { MemoryDevice } from "./definition-types.ts";
import { deviceId, placement, virtioProperties } from "./device.ts";
import type { DeviceProperties, DomainSection, MachinePlan } from "./machine-plan.ts";
import { memoryBackings, type MemoryBacking, type OwnBacking } from "./memory-backing.ts";
import { parseNumberSet } from "./number-set.ts";
import type { Section } from "./section.ts";
import { alignMemory, sizeInBytes } from "./size.ts";

type MemorySection = Section<MemoryDevice>;
const models = ["dimm", "nvdimm", "virtio-mem", "virtio-pmem"] as const;

/** How much memory sits in modules. */
export function moduleBytes(domain: DomainSection): number {
  const modules = domain.requireChild("devices").children("memorydevs");
  return modules.reduce((sum, module) => sum + sizeOf(module), 0);
}

function sizeOf(module: MemorySection): number {
  return alignMemory(sizeInBytes(module.requireChild("target").requireChild("size")));
}

/** Memory in modules, which can be taken out again, or which is kept in a file. */
export function addMemoryDevices(domain: DomainSection, plan: MachinePlan): void {
  const modules = domain.requireChild("devices").children("memorydevs");
  if (modules.length === 0) return;
  if (domain.child("maxMemory") === undefined) {
    throw domain.refuse("devices", "memory modules need maxMemory, which says how far memory can grow");
  }
  const counts = new Map<string, number>();
  const backingOf = memoryBackings(domain, plan.host);
  for (const module of modules) {
    const model = module.oneOf("model", models);
    if (model === undefined) throw module.refuse("model", "it must be given");
    if (plan.architecture.pciBus === undefined) throw module.refuse("model", "s390x machines have no memory modules");
    const name = model.replace("-", "");
    const number = counts.get(name) ?? 0;
    counts.set(name, number + 1);
    addModule(module, model, deviceId(module, `${name}${number}`, plan), backingOf, plan);
  }
}

function addModule(
  module: MemorySection,
  model: (typeof models)[number],
  id: string,
  backingOf: (cell: number, own: OwnBacking) => MemoryBacking,
  plan: MachinePlan,
): void {
  const target = module.requireChild("target");
  const node = target.number("node");
  const memdev = `mem${id}`;
  const { type, properties } = backend(module, model, backingOf(node ?? 0, ownBacking(module)));
  plan.addObject(type, memdev, { ...properties, size: sizeOf(module) });
  // Given back to the host when the guest ends, with its process.
  module.skip("discard");
  // How much of it the guest had the last time.
  target.skip("current");
  switch (model) {
    case "dimm":
    case "nvdimm":
      if (model === "nvdimm") plan.setMachine({ nvdimm: true });
      return plan.addDevice(model === "dimm" ? "pc-dimm" : "nvdimm", {
        node,
        ...(model === "nvdimm" && persistent(module)),
        memdev,
        id,
        ...slot(module),
      });
    case "virtio-mem":
      return plan.addDevice("virtio-mem-pci", {
        node,
        "block-size": size(target.child("block")),
        "requested-size": size(target.child("requested")),
        memdev,
        "dynamic-memslots": target.toggle("dynamicMemslots"),
        memaddr: target.child("address")?.number("base"),
        id,
        ...virtioProperties(module.child("driver")),
        ...placement(module, plan),
      });
    case "virtio-pmem":
      return plan.addDevice("virtio-pmem-pci", {
        memdev,
        memaddr: target.child("address")?.number("base"),
        id,
        ...virtioProperties(module.child("driver")),
        ...placement(module, plan),
      });
  }
}

function ownBacking(module: MemorySection): OwnBacking {
  const source = module.child("source");
  const nodes = source?.text("nodemask");
  const hostNodes = nodes === undefined ? undefined : parseNumberSet(nodes);
  if (nodes !== undefined && hostNodes === undefined) throw module.refuse("source", "nodemask is not a list of nodes");
  const access = module.oneOf("access", ["shared", "private"]);
  return {
    shared: access === undefined ? undefined : access === "shared",
    pageSize: size(source?.child("pagesize")),
    hostNodes,
  };
}

/** Memory that is kept lies in a file of its own; the rest is had as all memory is. */
function backend(
  module: MemorySection,
  model: (typeof models)[number],
  backing: MemoryBacking,
): { type: string; properties: DeviceProperties } {
  // The guest asks for it piece by piece, so nothing is set aside before.
  if (model === "virtio-mem") return { type: backing.type, properties: { ...backing.properties, reserve: false } };
  if (model === "dimm") return backing;
  const source = module.requireChild("source");
  return {
    type: "memory-backend-file",
    properties: {
      "mem-path": source.requireText("path"),
      share: model === "virtio-pmem" ? true : (backing.properties["share"] ?? false),
      align: size(source.child("alignsize")),
      pmem: source.child("pmem") === undefined ? undefined : true,
    },
  };
}

function persistent(module: MemorySection): DeviceProperties {
  const target = module.requireChild("target");
  return {
    "label-size": size(target.child("label")?.child("size")),
    unarmed: target.child("readonly") === undefined ? undefined : true,
    uuid: module.text("uuid"),
  };
}

function slot(module: MemorySection): DeviceProperties {
  const address = module.child("address");
  if (address === undefined) return {};
  address.oneOf("type", ["dimm"]);
  return { slot: address.number("slot"), addr: address.number("base") };
}

function size(
  given: Section<{ unit?: string | undefined; value?: number | string | undefined }> | undefined,
): number | undefined {
  return given === undefined ? undefined : sizeInBytes(given);
}
