import {
  isGateEnabled,
  type FeatureGateName,
  type InterfaceBindingPlugin,
  type KubeVirtConfiguration,
  type Quantity,
  type VirtualizationProfile,
} from "@polyvirt/api";
import { parseArchitecture, type Architecture } from "./architecture.ts";

/** The cluster's configuration with every default filled in: what admission, controller and launcher agree on. */
export interface ClusterConfig {
  readonly hypervisor: SelectedHypervisor;
  readonly defaultArchitecture: Architecture;
  readonly machines: Readonly<Record<Architecture, MachineConfig>>;
  readonly useEmulation: boolean;
  readonly cpuModel?: string;
  readonly cpuRequest?: string;
  readonly cpuAllocationRatio: number;
  readonly memoryOvercommit: number;
  readonly additionalGuestMemoryOverheadRatio?: string;
  /** The stack of this cluster, when its gate is on; nobody need look at the gate again. */
  readonly virtualizationProfile?: VirtualizationProfile;
  /** Measured cost of the stack's own processes, from the VirtualizationProfile. */
  readonly virtLauncherOverhead?: Quantity;
  readonly evictionStrategy?: string;
  /** Storage class of the claims that keep the state of TPMs and UEFI; the cluster's default when left out. */
  readonly vmStateStorageClass?: string;
  readonly defaultNetworkInterface: "bridge" | "masquerade";
  readonly permitBridgeOnPodNetwork: boolean;
  /** Binding plug-ins by name. */
  readonly networkBindings: Readonly<Record<string, InterfaceBindingPlugin>>;
  readonly liveUpdate: LiveUpdateConfig;
  readonly permittedHostDevices: ReadonlySet<string> | undefined;
  readonly memBalloonStatsPeriod: number;
  readonly freePageReporting: boolean;
  readonly serialConsoleLog: boolean;
  readonly smbios: Smbios;
  readonly isEnabled: (gate: FeatureGateName) => boolean;
}

export interface SelectedHypervisor {
  readonly name: string;
  /** Set when the administrator overrides what the hypervisor says about its nodes. */
  readonly hypervisorDevice?: string;
  readonly virtType?: string;
}

interface MachineConfig {
  readonly machineType: string;
  /** Patterns with `*` that `machine.type` must match. */
  readonly emulatedMachines: readonly string[];
}

interface LiveUpdateConfig {
  readonly enabled: boolean;
  readonly maxHotplugRatio: number;
  readonly maxCpuSockets?: number;
  readonly maxGuest?: Quantity;
}

interface Smbios {
  readonly manufacturer: string;
  readonly product: string;
  readonly family: string;
  readonly version?: string;
  readonly sku?: string;
}

const machineDefaults: Readonly<Record<Architecture, MachineConfig>> = {
  amd64: { machineType: "q35", emulatedMachines: ["q35*", "pc-q35*"] },
  arm64: { machineType: "virt", emulatedMachines: ["virt*"] },
  s390x: { machineType: "s390-ccw-virtio", emulatedMachines: ["s390-ccw-virtio*"] },
};

interface ClusterFacts {
  /** Architecture of the control plane's nodes, when the configuration names no default. */
  readonly hostArchitecture: Architecture;
}

/** Fills in everything the administrator left open. Called once per change of the KubeVirt object. */
export function resolveClusterConfig(
  configuration: KubeVirtConfiguration | undefined,
  { hostArchitecture }: ClusterFacts,
): ClusterConfig {
  const given = configuration ?? {};
  const developer = given.developerConfiguration ?? {};
  const isEnabled = (gate: FeatureGateName): boolean => isGateEnabled(given, gate);
  const profile = isEnabled("PluginVirtualizationStacks") ? given.virtualizationProfile : undefined;
  return {
    hypervisor: selectHypervisor(given, isEnabled, profile),
    defaultArchitecture:
      parseArchitecture(given.architectureConfiguration?.defaultArchitecture ?? "") ?? hostArchitecture,
    machines: resolveMachines(given),
    useEmulation: developer.useEmulation ?? false,
    cpuAllocationRatio: developer.cpuAllocationRatio || 10,
    memoryOvercommit: developer.memoryOvercommit || 100,
    defaultNetworkInterface: given.network?.defaultNetworkInterface === "masquerade" ? "masquerade" : "bridge",
    permitBridgeOnPodNetwork: given.network?.permitBridgeInterfaceOnPodNetwork ?? true,
    networkBindings: given.network?.binding ?? {},
    liveUpdate: {
      enabled: (given.vmRolloutStrategy ?? "LiveUpdate") === "LiveUpdate",
      maxHotplugRatio: given.liveUpdateConfiguration?.maxHotplugRatio || 4,
      ...optional("maxCpuSockets", given.liveUpdateConfiguration?.maxCpuSockets),
      ...optional("maxGuest", given.liveUpdateConfiguration?.maxGuest),
    },
    permittedHostDevices: permittedDevices(given),
    memBalloonStatsPeriod: given.memBalloonStatsPeriod ?? 10,
    freePageReporting: given.virtualMachineOptions?.disableFreePageReporting === undefined,
    serialConsoleLog: given.virtualMachineOptions?.disableSerialConsoleLog === undefined,
    smbios: {
      manufacturer: given.smbios?.manufacturer ?? "KubeVirt",
      product: given.smbios?.product ?? "None",
      family: given.smbios?.family ?? "KubeVirt",
      ...optional("version", given.smbios?.version),
      ...optional("sku", given.smbios?.sku),
    },
    isEnabled,
    ...optional("cpuModel", given.cpuModel || undefined),
    ...optional("cpuRequest", given.cpuRequest === undefined ? undefined : String(given.cpuRequest)),
    ...optional("additionalGuestMemoryOverheadRatio", given.additionalGuestMemoryOverheadRatio),
    ...optional("virtualizationProfile", profile),
    ...optional("virtLauncherOverhead", profile?.virtLauncher?.virtLauncherOverhead),
    ...optional("vmStateStorageClass", given.vmStateStorageClass || undefined),
    ...optional("evictionStrategy", given.evictionStrategy || undefined),
  };
}

/** A property that is absent, rather than undefined, when there is no value. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  // A computed key widens to string; the pair given is the pair returned.
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}

function selectHypervisor(
  given: KubeVirtConfiguration,
  isEnabled: ClusterConfig["isEnabled"],
  profile: VirtualizationProfile | undefined,
): SelectedHypervisor {
  // A profile names a path, everything else the node's name below /dev.
  const device = profile?.virtualizationComponents?.hypervisorDevice?.replace(/^\/dev\//, "");
  // `hypervisors` is KubeVirt's spelling, `hypervisor` the proposal's; both mean the same list.
  const first = (given.hypervisors ?? given.hypervisor ?? [])[0];
  if (first === undefined || !isEnabled("ConfigurableHypervisor")) {
    return { name: "kvm", ...optional("hypervisorDevice", device || undefined) };
  }
  return {
    name: first.name || "kvm",
    ...optional("hypervisorDevice", first.hypervisorDevice ?? (device || undefined)),
    ...optional("virtType", first.virtType),
  };
}

function resolveMachines(given: KubeVirtConfiguration): ClusterConfig["machines"] {
  const resolve = (architecture: Architecture): MachineConfig => {
    const specific = given.architectureConfiguration?.[architecture];
    // The two settings without an architecture are older and mean amd64.
    const legacy = architecture === "amd64" ? given : {};
    return {
      machineType: specific?.machineType || legacy.machineType || machineDefaults[architecture].machineType,
      emulatedMachines:
        specific?.emulatedMachines ?? legacy.emulatedMachines ?? machineDefaults[architecture].emulatedMachines,
    };
  };
  return { amd64: resolve("amd64"), arm64: resolve("arm64"), s390x: resolve("s390x") };
}

function permittedDevices({ permittedHostDevices }: KubeVirtConfiguration): ReadonlySet<string> | undefined {
  if (permittedHostDevices === undefined) return undefined;
  const { pciHostDevices = [], mediatedDevices = [], usb = [] } = permittedHostDevices;
  return new Set([...pciHostDevices, ...mediatedDevices, ...usb].map(({ resourceName }) => resourceName));
}
