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
      const maxCpus = count(attribute(machine, "maxCpus"));
      return {
        name: textOf(machine),
        ...(canonical === undefined ? {} : { canonical }),
        ...(maxCpus === undefined ? {} : { maxCpus }),
        ...(attribute(machine, "deprecated") === "yes" && { deprecated: true }),
      };
    })
    .toSorted(byName);
}

export function readTsc(capabilities: string): NodeTscInfo | undefined {
  const cpu = child(child(readXml(capabilities), "host"), "cpu");
  const counter = children(cpu, "counter").find((node) => attribute(node, "name") === "tsc");
  const frequencyHz = count(attribute(counter, "frequency"));
  if (frequencyHz === undefined || frequencyHz === 0) return undefined;
  return { frequencyHz, scalable: attribute(counter, "scaling") === "yes" };
}

/** The named models of an emulator. Where libvirt cannot say whether one is usable, an emulated one is. */
export function readCpuModels(domainCapabilities: string, emulated: boolean): CpuModel[] {
  const usable = emulated ? ["yes", "unknown"] : ["yes"];
  const custom = cpuMode(domainCapabilities, "custom");
  // Newer libvirts say which features of the host a model lacks.
  const blockers = new Map(
    children(custom, "blockers").map((entry) => [attribute(entry, "model"), featuresOf(entry, ["require"])] as const),
  );
  return children(custom, "model")
    .map((model) => {
      const name = textOf(model);
      const unavailableFeatures = blockers.get(name) ?? [];
      return {
        name,
        usable: usable.includes(attribute(model, "usable") ?? "unknown"),
        ...(unavailableFeatures.length > 0 && { unavailableFeatures }),
        ...(attribute(model, "deprecated") === "yes" && { deprecated: true }),
      };
    })
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
  return choices(feature(domainCapabilities, "hyperv"), "features").toSorted();
}

export function readSev(domainCapabilities: string): NodeSevFeatures {
  const sev = feature(domainCapabilities, "sev");
  if (attribute(sev, "supported") !== "yes") return { supported: false };
  const [maxGuests = 0, maxEncryptedStateGuests = 0] = ["maxGuests", "maxESGuests"].map((name) =>
    count(textOf(child(sev, name))),
  );
  // Newer libvirts list the kinds of confidential guests.
  const kinds = choices(feature(domainCapabilities, "launchSecurity"), "sectype");
  return {
    supported: true,
    encryptedStateSupported: maxEncryptedStateGuests > 0,
    ...(kinds.includes("sev-snp") && { secureNestedPagingSupported: true }),
    maxGuests,
    maxEncryptedStateGuests,
  };
}

function feature(domainCapabilities: string, name: string): XmlNode | undefined {
  return child(child(readXml(domainCapabilities), "features"), name);
}

/** The values of one of the lists below a node. */
function choices(node: XmlNode | undefined, name: string): string[] {
  const list = children(node, "enum").find((entry) => attribute(entry, "name") === name);
  return children(list, "value").map(textOf);
}

/** A whole number that is not negative; undefined for everything else that somebody may write there. */
function count(text: string | undefined): number | undefined {
  const value = text === undefined || !/^\d+$/.test(text) ? Number.NaN : Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
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
