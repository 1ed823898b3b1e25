import type { KubeVirtConfiguration } from "./gen/kubevirt-configuration.ts";

/** Alpha is off until asked for, beta is on until disabled, general availability is always on. */
type GateStage = "alpha" | "beta" | "ga" | "deprecated";

interface FeatureGate {
  readonly stage: GateStage;
  /** Version of this project that has it in this stage. */
  readonly since: string;
  readonly about: string;
  /** Other names that switch the same thing. */
  readonly aliases?: readonly string[];
}

/** Every switch we know. A gate that is not here is accepted in the configuration and reported as unknown. */
export const featureGates = {
  ConfigurableHypervisor: { stage: "alpha", since: "0.1", about: "Choose the hypervisor in the configuration." },
  PluginVirtualizationStacks: {
    stage: "alpha",
    since: "0.1",
    about: "Use the launcher and webhooks of a virtualization profile.",
  },
  VirtHandlerPools: { stage: "alpha", since: "0.1", about: "Give groups of nodes their own images and hypervisor." },
  MultiArchitectureSoftwareEmulation: {
    stage: "alpha",
    since: "0.1",
    about: "Run guests of another architecture than the node's by software emulation.",
    aliases: ["CrossArchitectureVirtualization"],
  },
  Plugins: { stage: "alpha", since: "0.1", about: "Use Plugin objects." },
  Sidecar: { stage: "alpha", since: "0.1", about: "Run the hook sidecars that an annotation of the machine names." },
  HostDisk: { stage: "alpha", since: "0.1", about: "Use files of the node as disks." },
  HostDevices: { stage: "alpha", since: "0.1", about: "Pass devices of the node to guests." },
  CPUManager: { stage: "alpha", since: "0.1", about: "Pin vCPUs to dedicated processors." },
  HypervStrictCheck: { stage: "alpha", since: "0.1", about: "Schedule by the Hyper-V features that a node has." },
  DownwardMetrics: { stage: "alpha", since: "0.1", about: "Show node metrics to guests." },
  EnableVirtioFsConfigVolumes: { stage: "alpha", since: "0.1", about: "Share config maps and secrets by virtiofs." },
  EnableVirtioFsStorageVolumes: { stage: "alpha", since: "0.1", about: "Share claims by virtiofs." },
  ExpandDisks: { stage: "alpha", since: "0.1", about: "Grow disks of running guests with their claims." },
  ImageVolume: { stage: "beta", since: "0.1", about: "Mount container disks as image volumes." },
  IOMMUFD: { stage: "alpha", since: "0.1", about: "Pass devices of the node to guests through one memory map." },
  IncrementalBackup: { stage: "alpha", since: "0.1", about: "Back up only the blocks that changed." },
  PanicDevices: { stage: "alpha", since: "0.1", about: "Give guests a panic device." },
  PasstBinding: { stage: "alpha", since: "0.1", about: "Connect guests to the network by passt." },
  PersistentReservation: { stage: "alpha", since: "0.1", about: "Let guests use SCSI persistent reservations." },
  RebootPolicy: { stage: "alpha", since: "0.1", about: "Decide what a reboot of the guest does." },
  Root: { stage: "deprecated", since: "0.1", about: "Run launchers as root." },
  SecureExecution: { stage: "alpha", since: "0.1", about: "Run s390x guests in secure execution." },
  VideoConfig: { stage: "alpha", since: "0.1", about: "Choose the video device of the guest." },
  VSOCK: { stage: "alpha", since: "0.1", about: "Give guests a VSOCK device." },
  WorkloadEncryptionSEV: { stage: "alpha", since: "0.1", about: "Encrypt guest memory with AMD SEV." },
  WorkloadEncryptionTDX: { stage: "alpha", since: "0.1", about: "Isolate guests with Intel TDX." },
} as const satisfies Record<string, FeatureGate>;

export type FeatureGateName = keyof typeof featureGates;

type GateConfiguration = Pick<KubeVirtConfiguration, "developerConfiguration">;

const gateTable: Readonly<Record<FeatureGateName, FeatureGate>> = featureGates;

export function isGateEnabled(configuration: GateConfiguration | undefined, gate: FeatureGateName): boolean {
  const { stage, aliases = [] } = gateTable[gate];
  if (stage === "ga") return true;
  const developer = configuration?.developerConfiguration;
  const names: readonly string[] = [gate, ...aliases];
  const listed = (list: readonly string[] | undefined): boolean => names.some((name) => list?.includes(name) ?? false);
  if (listed(developer?.disabledFeatureGates)) return false;
  return stage === "beta" || listed(developer?.featureGates);
}

/** Names in the configuration that switch nothing here, so that a typing error does not stay silent. */
export function unknownGates(configuration: GateConfiguration | undefined): string[] {
  const known = new Set(Object.entries(gateTable).flatMap(([name, gate]) => [name, ...(gate.aliases ?? [])]));
  const developer = configuration?.developerConfiguration;
  return [...(developer?.featureGates ?? []), ...(developer?.disabledFeatureGates ?? [])].filter(
    (name) => !known.has(name),
  );
}
