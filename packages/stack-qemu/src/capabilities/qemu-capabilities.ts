import type { CapabilityProvider, CapabilityTarget, CpuModel, MachineType } from "@polyvirt/stack";
import type { QemuProbe } from "./qemu-probe.ts";

/** QEMU's names for the architectures of Kubernetes. */
const qemuArchitectures: Readonly<Record<string, string>> = { amd64: "x86_64", arm64: "aarch64", s390x: "s390x" };

interface Answers {
  readonly machines: readonly QmpMachine[];
  readonly models: readonly QmpCpuModel[];
  readonly features: readonly string[];
}

interface QmpMachine {
  readonly name: string;
  readonly alias?: string;
  readonly "cpu-max": number;
  readonly deprecated: boolean;
}

interface QmpCpuModel {
  readonly name: string;
  readonly "unavailable-features"?: readonly string[];
  readonly deprecated?: boolean;
}

/** The seven capability functions, answered by QEMU itself. One short-lived QEMU answers all of them. */
export function qemuCapabilities(probe: QemuProbe, target: CapabilityTarget): CapabilityProvider {
  const architecture = qemuArchitectures[target.architecture] ?? target.architecture;
  let asked: Promise<Answers> | undefined;
  const answers = (): Promise<Answers> =>
    (asked ??= probe.ask(architecture, target.virtType, (qmp) => askAll(qmp, target)));
  return {
    // Enlightenments belong to the hypervisor; QEMU does not list them. The hypervisor layer reads them from CPUID.
    getHypervFeatures: async () => [],
    getSupportedMachineTypes: async () => (await answers()).machines.flatMap(machineTypes).toSorted(byName),
    getSupportedCpuModels: async () => (await answers()).models.map(cpuModel).toSorted(byName),
    // QEMU can run the host's CPU, but does not say which named model it is.
    getHostCpuModelInfo: async () => undefined,
    getSupportedCpuFeatures: async () => (await answers()).features,
    // KVM knows the TSC; it is read from the kernel by the node agent.
    getNodeTscInfo: async () => undefined,
    getNodeSevFeatures: async () => ({ supported: false }),
  };
}

type Monitor = Parameters<Parameters<QemuProbe["ask"]>[2]>[0];

async function askAll(qmp: Monitor, target: CapabilityTarget): Promise<Answers> {
  // The shapes are QEMU's published schema for these commands.
  const machines = (await qmp.execute("query-machines")) as QmpMachine[];
  const models = (await qmp.execute("query-cpu-definitions")) as QmpCpuModel[];
  return { machines, models, features: await cpuFeatures(qmp, target) };
}

/** Features of the richest CPU that this QEMU can run here. */
async function cpuFeatures(qmp: Monitor, target: CapabilityTarget): Promise<string[]> {
  const name = target.virtType === "qemu" ? "max" : "host";
  const expansion = (await qmp
    .execute("query-cpu-model-expansion", { type: "full", model: { name } })
    // Not every architecture can expand a CPU without a machine.
    .catch(() => undefined)) as { model?: { props?: Record<string, unknown> } } | undefined;
  const properties = Object.entries(expansion?.model?.props ?? {});
  return properties
    .filter(([feature, value]) => value === true && /^[a-z0-9][a-z0-9._-]*$/.test(feature))
    .map(([feature]) => feature)
    .toSorted();
}

function machineTypes(machine: QmpMachine): MachineType[] {
  const common = { maxCpus: machine["cpu-max"], deprecated: machine.deprecated };
  const versioned = { name: machine.name, ...common };
  if (machine.name === "none") return [];
  return machine.alias === undefined
    ? [versioned]
    : [versioned, { name: machine.alias, canonical: machine.name, ...common }];
}

function cpuModel(model: QmpCpuModel): CpuModel {
  const unavailable = model["unavailable-features"] ?? [];
  return {
    name: model.name,
    usable: unavailable.length === 0,
    ...(unavailable.length > 0 && { unavailableFeatures: unavailable }),
    ...(model.deprecated === true && { deprecated: true }),
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
