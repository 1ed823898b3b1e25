import type { CapabilityProvider, CapabilityTarget, CpuModel, MachineType } from "@polyvirt/stack";
import { featureNames, isNamedModel } from "./cpu-features.ts";
import type { QemuProbe } from "./qemu-probe.ts";

/** QEMU's names for the architectures of Kubernetes. */
const qemuArchitectures: Readonly<Record<string, string>> = { amd64: "x86_64", arm64: "aarch64", s390x: "s390x" };

interface Answers {
  readonly machines: readonly QmpMachine[];
  readonly models: readonly QmpCpuModel[];
  readonly features: readonly string[];
  readonly enlightenments: readonly string[];
  readonly sev: boolean;
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
    getHypervFeatures: async () => (await answers()).enlightenments,
    getSupportedMachineTypes: async () => (await answers()).machines.flatMap(machineTypes).toSorted(byName),
    getSupportedCpuModels: async () =>
      (await answers()).models
        .filter(({ name }) => isNamedModel(target.architecture, name))
        .map(cpuModel)
        .toSorted(byName),
    // QEMU can run the host's CPU, but does not say which named model it is.
    getHostCpuModelInfo: async () => undefined,
    getSupportedCpuFeatures: async () => (await answers()).features,
    // KVM knows the TSC and tells it to nobody but the process that runs a machine.
    getNodeTscInfo: async () => undefined,
    getNodeSevFeatures: async () => ({ supported: (await answers()).sev }),
  };
}

type Monitor = Parameters<Parameters<QemuProbe["ask"]>[2]>[0];

async function askAll(qmp: Monitor, target: CapabilityTarget): Promise<Answers> {
  // The shapes are QEMU's published schema for these commands.
  const machines = (await qmp.execute("query-machines")) as QmpMachine[];
  const models = (await qmp.execute("query-cpu-definitions")) as QmpCpuModel[];
  return {
    machines,
    models,
    features: await cpuFeatures(qmp, target),
    enlightenments: await enlightenments(qmp, target),
    // Refused where the host's processor or its firmware does not offer it.
    sev: await qmp.execute("query-sev-capabilities").then(
      () => true,
      () => false,
    ),
  };
}

/** What the hypervisor lends to Windows guests: `hv-relaxed` is called `relaxed`. An emulator has none of its own. */
async function enlightenments(qmp: Monitor, target: CapabilityTarget): Promise<string[]> {
  if (target.virtType === "qemu" || target.architecture !== "amd64") return [];
  const model = { name: "host", props: { "hv-passthrough": true } };
  const expansion = (await qmp
    .execute("query-cpu-model-expansion", { type: "full", model })
    // A host without them refuses to pass them through.
    .catch(() => undefined)) as { model?: { props?: Record<string, unknown> } } | undefined;
  const on = Object.entries(expansion?.model?.props ?? {}).filter(
    ([name, value]) => name.startsWith("hv-") && name !== "hv-passthrough" && value === true,
  );
  return on.map(([name]) => name.slice("hv-".length).replaceAll("-", "_")).toSorted();
}

/** Features of the richest CPU that this QEMU can run here. */
async function cpuFeatures(qmp: Monitor, target: CapabilityTarget): Promise<string[]> {
  const name = target.virtType === "qemu" ? "max" : "host";
  const expansion = (await qmp
    .execute("query-cpu-model-expansion", { type: "full", model: { name } })
    // Not every architecture can expand a CPU without a machine.
    .catch(() => undefined)) as { model?: { props?: Record<string, unknown> } } | undefined;
  return featureNames(target.architecture, expansion?.model?.props ?? {});
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
