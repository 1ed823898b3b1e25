import { readXml, type XmlNode } from "@polyvirt/domain";
import type { CpuModel, HostCpuModel, MachineType, NodeSevFeatures, NodeTscInfo } from "@polyvirt/stack";

/** Reading libvirt's descriptions of what a host and an emulator can do. Pure; one function for each answer. */
export function readMachineTypes(capabilities: string, architecture: string): MachineType[] {
  const guests = children(readXml(capabilities), "guest");
  const found = guests.map((guest) => child(guest, "arch")).find((arch) => attribute(arch, "name") === architecture);
  // Machines are listed for the emulator, and again below a kind of domain where that has other ones.
  return children(found, "machine")
    .map((machine) => {
      const canonical = attribute(machine, "canonical");
      const maxCpus = attribute(machine, "maxCpus");
      return {
        name: textOf(machine),
        ...(canonical === undefined ? {} : { canonical }),
        ...(maxCpus === undefined ? {} : { maxCpus: Number(maxCpus) }),
        ...(attribute(machine, "deprecated") === "yes" && { deprecated: true }),
      };
    })
    .toSorted(byName);
}

export function readTsc(capabilities: string): NodeTscInfo | undefined {
  const cpu = child(child(readXml(capabilities), "host"), "cpu");
  const counter = children(cpu, "counter").find((node) => attribute(node, "name") === "tsc");
  const frequency = Number(attribute(counter, "frequency"));
  return counter === undefined || !(frequency > 0)
    ? undefined
    : { frequencyHz: frequency, scalable: attribute(counter, "scaling") === "yes" };
}

/** The named models of an emulator. Where libvirt cannot say whether one is usable, an emulated one is. */
export function readCpuModels(domainCapabilities: string, emulated: boolean): CpuModel[] {
  const usable = emulated ? ["yes", "unknown"] : ["yes"];
  return children(cpuMode(domainCapabilities, "custom"), "model")
    .map((model) => ({
      name: textOf(model),
      usable: usable.includes(attribute(model, "usable") ?? "unknown"),
      ...(attribute(model, "deprecated") === "yes" && { deprecated: true }),
    }))
    .toSorted(byName);
}

export function readHostModel(domainCapabilities: string): HostCpuModel | undefined {
  const mode = cpuMode(domainCapabilities, "host-model");
  const model = child(mode, "model");
  if (attribute(mode, "supported") !== "yes" || model === undefined) return undefined;
  const vendor = textOf(child(mode, "vendor"));
  return {
    name: textOf(model),
    ...(vendor === "" ? {} : { vendor }),
    requiredFeatures: featuresOf(mode, ["require"]),
  };
}

/** The host model as a CPU of its own, for questions about it. */
export function hostModelCpu(domainCapabilities: string, architecture: string): string | undefined {
  const mode = cpuMode(domainCapabilities, "host-model");
  const model = child(mode, "model");
  if (attribute(mode, "supported") !== "yes" || model === undefined) return undefined;
  const features = children(mode, "feature").map(
    (feature) => `<feature policy="${attribute(feature, "policy")}" name="${attribute(feature, "name")}"/>`,
  );
  return `<cpu><arch>${architecture}</arch><model>${textOf(model)}</model>${features.join("")}</cpu>`;
}

/** Features of a CPU that was given with all of them, without those that the host model has to do without. */
export function readFeatures(cpu: string, domainCapabilities: string): string[] {
  const disabled = featuresOf(cpuMode(domainCapabilities, "host-model"), ["disable", "forbid"]);
  return featuresOf(readXml(cpu), ["require", "force"])
    .filter((feature) => !disabled.includes(feature))
    .toSorted();
}

function featuresOf(cpu: XmlNode | undefined, policies: readonly string[]): string[] {
  return children(cpu, "feature")
    .filter((feature) => policies.includes(attribute(feature, "policy") ?? "require"))
    .map((feature) => attribute(feature, "name") ?? "");
}

export function readHypervFeatures(domainCapabilities: string): string[] {
  const hyperv = child(child(readXml(domainCapabilities), "features"), "hyperv");
  return children(child(hyperv, "enum"), "value").map(textOf).toSorted();
}

export function readSev(domainCapabilities: string): NodeSevFeatures {
  const sev = child(child(readXml(domainCapabilities), "features"), "sev");
  if (attribute(sev, "supported") !== "yes") return { supported: false };
  const [maxGuests, maxEncryptedStateGuests] = ["maxGuests", "maxESGuests"].map((name) =>
    Number(textOf(child(sev, name))),
  );
  return {
    supported: true,
    encryptedStateSupported: (maxEncryptedStateGuests ?? 0) > 0,
    maxGuests: maxGuests ?? 0,
    maxEncryptedStateGuests: maxEncryptedStateGuests ?? 0,
  };
}

function cpuMode(domainCapabilities: string, name: string): XmlNode | undefined {
  return children(child(readXml(domainCapabilities), "cpu"), "mode").find((mode) => attribute(mode, "name") === name);
}

function children(node: XmlNode | undefined, name: string): XmlNode[] {
  return (node?.children ?? []).filter((entry): entry is XmlNode => typeof entry === "object" && entry.name === name);
}

function child(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return children(node, name)[0];
}

function attribute(node: XmlNode | undefined, name: string): string | undefined {
  // Names and values take turns.
  const index = node?.attributes.findIndex((entry, position) => position % 2 === 0 && entry === name) ?? -1;
  return index < 0 ? undefined : node?.attributes[index + 1];
}

function textOf(node: XmlNode | undefined): string {
  return (node?.children ?? [])
    .filter((entry) => typeof entry === "string")
    .join("")
    .trim();
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : 1;
}
