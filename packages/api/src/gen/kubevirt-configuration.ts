// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { LabelSelector } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";
import type { HypervisorConfiguration } from "./hypervisor.ts";
import type { MigrationConfiguration } from "./migration.ts";
import type { MediatedDevicesConfiguration, PermittedHostDevices } from "./permitted-host-device.ts";
import type { VirtualizationProfile } from "./virtualization-profile.ts";

/** How machines are run in this cluster. */
export interface KubeVirtConfiguration {
  /** Factor on the memory that is reserved besides the guest's own. */
  additionalGuestMemoryOverheadRatio?: string;
  /** Limits of virt-api towards the API server. */
  apiConfiguration?: ReloadableComponentConfiguration;
  /** Settings that depend on the guest's architecture. */
  architectureConfiguration?: ArchConfiguration;
  /** Namespaces in which launcher pods get a CPU limit by themselves. */
  autoCPULimitNamespaceLabelSelector?: LabelSelector;
  /** Machines whose changed blocks are tracked for incremental backup. */
  changedBlockTrackingLabelSelectors?: ChangedBlockTrackingSelectors;
  /** Whether the common instance types and preferences are installed. */
  commonInstancetypesDeployment?: CommonInstancetypesDeployment;
  /** Settings for guests whose memory the host cannot read. */
  confidentialCompute?: ConfidentialComputeConfiguration;
  /** Limits of virt-controller towards the API server. */
  controllerConfiguration?: ReloadableComponentConfiguration;
  /** CPU model of guests that name none. */
  cpuModel?: string;
  /** CPU request of launcher pods whose machine names none. */
  cpuRequest?: Quantity;
  /** Runtime class of launcher pods. */
  defaultRuntimeClass?: string;
  /** Feature gates, software emulation, verbosity and other switches. */
  developerConfiguration?: DeveloperConfiguration;
  /** Machine types that guests may use, with wildcards. Use architectureConfiguration instead. */
  emulatedMachines?: string[];
  /** What happens to a machine whose node is drained, when the machine does not say. */
  evictionStrategy?: "None" | "LiveMigrate" | "LiveMigrateIfPossible" | "External" | (string & {});
  /** Limits of virt-handler towards the API server. */
  handlerConfiguration?: ReloadableComponentConfiguration;
  /** The hypervisor of this cluster; one entry. KVM when empty. Needs the gate ConfigurableHypervisor. */
  hypervisor?: HypervisorConfiguration[];
  /** Other spelling of hypervisor. */
  hypervisors?: HypervisorConfiguration[];
  /** When nodes fetch launcher images. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** How machines refer to instance types. */
  instancetype?: InstancetypeConfiguration;
  /** On which nodes equal memory pages are merged. */
  ksmConfiguration?: KSMConfiguration;
  /** How far CPU and memory of running guests may grow. */
  liveUpdateConfiguration?: LiveUpdateConfiguration;
  /** Machine type of guests that name none. Use architectureConfiguration instead. */
  machineType?: string;
  /** Mediated devices that nodes create. */
  mediatedDevicesConfiguration?: MediatedDevicesConfiguration;
  /** Seconds between two memory reports of a guest; 0 turns them off. */
  memBalloonStatsPeriod?: number;
  /** Limits and behaviour of live migrations. */
  migrations?: MigrationConfiguration;
  /** Oldest CPU model that node labels still list. */
  minCPUModel?: string;
  /** Which network interfaces guests get and may use. */
  network?: NetworkConfiguration;
  /** CPU models that node labels leave out. */
  obsoleteCPUModels?: Record<string, boolean>;
  /** Folder of the UEFI firmware. Use architectureConfiguration instead. */
  ovmfPath?: string;
  /** Devices of nodes that guests may have. */
  permittedHostDevices?: PermittedHostDevices;
  /** Whether nodes help guests with SCSI persistent reservations. */
  persistentReservationConfiguration?: PersistentReservationConfiguration;
  /** Whether our user roles become part of Kubernetes' own admin, edit and view roles. AggregateToDefault or Manual. */
  roleAggregationStrategy?: string;
  /** System calls that launchers may make. */
  seccompConfiguration?: SeccompConfiguration;
  /** SELinux type of launcher pods. */
  selinuxLauncherType?: string;
  /** What guests read about their maker. */
  smbios?: SMBiosConfiguration;
  /** Resources of the helper containers in launcher pods. */
  supportContainerResources?: SupportContainerResources[];
  /** Guest agent versions that are accepted without looking at their commands. */
  supportedGuestAgentVersions?: string[];
  /** TLS versions and ciphers that the roles accept. */
  tlsConfiguration?: TLSConfiguration;
  /** Whether machine templates are installed. */
  virtTemplateDeployment?: VirtTemplateDeployment;
  /** How many machines one node may run. */
  virtualMachineInstancesPerNode?: number;
  /** Options of every guest. */
  virtualMachineOptions?: VirtualMachineOptions;
  /** The virtualization stack of this cluster. Libvirt, QEMU and KVM when unset. */
  virtualizationProfile?: VirtualizationProfile;
  /** Whether changes of a machine reach the running guest or wait for its restart. */
  vmRolloutStrategy?: "Stage" | "LiveUpdate" | (string & {});
  /** Storage class for state that outlives a guest: TPM and UEFI variables. */
  vmStateStorageClass?: string;
  /** Limits of the webhooks towards the API server. */
  webhookConfiguration?: ReloadableComponentConfiguration;
}

/** Settings of a role that take effect without a restart. */
export interface ReloadableComponentConfiguration {
  /** How the role talks to the API server. */
  restClient?: RESTClientConfiguration;
}

/** How a role talks to the API server. */
export interface RESTClientConfiguration {
  /** How many requests it may send. */
  rateLimiter?: RateLimiter;
}

/** How many requests a client may send. */
export interface RateLimiter {
  /** A bucket that fills at a steady rate; each request takes one token. */
  tokenBucketRateLimiter?: TokenBucketRateLimiter;
}

/** A bucket of tokens for requests. */
export interface TokenBucketRateLimiter {
  /** How many tokens it holds. */
  burst: number;
  /** How many tokens it gains each second. */
  qps: number;
}

/** Settings by architecture of the guest. */
export interface ArchConfiguration {
  /** For x86-64 guests. */
  amd64?: ArchSpecificConfiguration;
  /** For 64-bit Arm guests. */
  arm64?: ArchSpecificConfiguration;
  /** Architecture of guests that name none. */
  defaultArchitecture?: string;
  /** For POWER guests. */
  ppc64le?: ArchSpecificConfiguration;
  /** For IBM Z guests. */
  s390x?: ArchSpecificConfiguration;
}

/** Settings for guests of one architecture. */
export interface ArchSpecificConfiguration {
  /** Machine types that guests may use, with wildcards. */
  emulatedMachines?: string[];
  /** Machine type of guests that name none. */
  machineType?: string;
  /** Folder of the UEFI firmware. */
  ovmfPath?: string;
}

/** Machines whose changed blocks are tracked. One match is enough. */
export interface ChangedBlockTrackingSelectors {
  /** Namespaces of such machines. */
  namespaceLabelSelector?: LabelSelector;
  /** Labels of such machines. */
  virtualMachineLabelSelector?: LabelSelector;
}

/** Whether the common instance types are installed. */
export interface CommonInstancetypesDeployment {
  /** Install them; true when unset. */
  enabled?: boolean;
}

/** Settings for guests whose memory the host cannot read. */
export interface ConfidentialComputeConfiguration {
  /** Settings for Intel TDX. */
  tdx?: TDXConfiguration;
}

/** Settings for Intel TDX. */
export interface TDXConfiguration {
  /** How guests prove what they run. */
  attestation?: TDXAttestationConfiguration;
}

/** How TDX guests prove what they run. */
export interface TDXAttestationConfiguration {
  /** Refuse guests on nodes that cannot sign their proof. */
  enforced?: boolean;
  /** Socket of the quote generation service on nodes. */
  qgsSocketPath?: string;
}

/** Switches for features under development and for test clusters. */
export interface DeveloperConfiguration {
  /** Let administrators record profiles of the roles. */
  clusterProfiler?: boolean;
  /** How many vCPUs share one CPU of the pod's request; 10 when unset. */
  cpuAllocationRatio?: number;
  /** Features to turn off that are on by default. */
  disabledFeatureGates?: string[];
  /** Limits for the inspection of disk images. */
  diskVerification?: DiskVerification;
  /** Features to turn on. */
  featureGates?: string[];
  /** How much the roles log. */
  logVerbosity?: LogVerbosity;
  /** Guest memory as a percentage of the pod's request; 100 when unset. */
  memoryOvercommit?: number;
  /** Lowest TSC frequency that nodes offer to guests, in hertz. */
  minimumClusterTSCFrequency?: number;
  /** Bytes of a claim that are left free of the disk image in it. */
  minimumReservePVCBytes?: number;
  /** Labels that every node with machines must have. */
  nodeSelectors?: Record<string, string>;
  /** How much smaller than asked a claim may be, in percent; 10 when unset. */
  pvcTolerateLessSpaceUpToPercent?: number;
  /** Run guests by software emulation on nodes without a hypervisor device. */
  useEmulation?: boolean;
}

/** Limits for the inspection of disk images. */
export interface DiskVerification {
  /** Memory that an inspection may use. */
  memoryLimit: Quantity;
}

/** How much each role logs, from 0 to 9. */
export interface LogVerbosity {
  /** By node, for virt-handler and the launchers there. */
  nodeVerbosity?: Record<string, number>;
  /** Of virt-api. */
  virtAPI?: number;
  /** Of virt-controller. */
  virtController?: number;
  /** Of virt-handler. */
  virtHandler?: number;
  /** Of launchers. */
  virtLauncher?: number;
  /** Of virt-operator. */
  virtOperator?: number;
  /** Of the controller that follows migrations between clusters. */
  virtSynchronizationController?: number;
}

/** How machines refer to instance types. */
export interface InstancetypeConfiguration {
  /** Whether a machine keeps the reference or gets the values written out. */
  referencePolicy?: "reference" | "expand" | "expandAll" | (string & {});
}

/** On which nodes equal memory pages are merged. */
export interface KSMConfiguration {
  /** Labels of those nodes. */
  nodeLabelSelector?: LabelSelector;
}

/** How far running guests may grow. */
export interface LiveUpdateConfiguration {
  /** Most CPU sockets of a guest that names no limit. */
  maxCpuSockets?: number;
  /** Most memory of a guest that names no limit. */
  maxGuest?: Quantity;
  /** Limit of sockets and memory as a multiple of what the guest starts with; 4 when unset. */
  maxHotplugRatio?: number;
}

/** Which network interfaces guests get and may use. */
export interface NetworkConfiguration {
  /** Ways to connect guests that plug-ins add, by name. */
  binding?: Record<string, InterfaceBindingPlugin>;
  /** How guests are connected to the pod network when they do not say. */
  defaultNetworkInterface?: "bridge" | "masquerade" | (string & {});
  /** Allow bridges on the pod network; true when unset. */
  permitBridgeInterfaceOnPodNetwork?: boolean;
  /** No longer has an effect. */
  permitSlirpInterface?: boolean;
}

/** A way to connect guests to a network that a plug-in adds. */
export interface InterfaceBindingPlugin {
  /** Resources that it takes in the launcher's container. */
  computeResourceOverhead?: ResourceRequirementsWithoutClaims;
  /** How the guest's device is attached: tap or managedTap. */
  domainAttachmentType?: string;
  /** What its sidecar is told about the machine: device-info or nothing. */
  downwardAPI?: string;
  /** How it behaves in a live migration; not migratable when unset. */
  migration?: InterfaceBindingMigration;
  /** Network attachment that it needs, as namespace/name. */
  networkAttachmentDefinition?: string;
  /** Image of its sidecar in the launcher pod. */
  sidecarImage?: string;
}

/** Resources of a container. */
export interface ResourceRequirementsWithoutClaims {
  /** The most it may use. */
  limits?: Record<string, Quantity>;
  /** What is set aside for it. */
  requests?: Record<string, Quantity>;
}

/** How a network binding behaves in a live migration. */
export interface InterfaceBindingMigration {
  /** link-refresh makes the guest notice the new place by a short loss of link. */
  method?: string;
}

/** Help for SCSI persistent reservations. */
export interface PersistentReservationConfiguration {
  /** Run the helper on nodes that guests with reservations need. */
  enabled?: boolean;
}

/** System calls that launchers may make. */
export interface SeccompConfiguration {
  /** Profile of launcher pods. */
  virtualMachineInstanceProfile?: VirtualMachineInstanceProfile;
}

/** Seccomp profile of launcher pods. */
export interface VirtualMachineInstanceProfile {
  /** The profile to use. */
  customProfile?: CustomProfile;
}

/** A seccomp profile. One of its fields is set. */
export interface CustomProfile {
  /** File of the profile on nodes, relative to the kubelet's folder. */
  localhostProfile?: string;
  /** Use the profile of the container runtime. */
  runtimeDefaultProfile?: boolean;
}

/** What guests read about their maker. */
export interface SMBiosConfiguration {
  /** Product family. */
  family?: string;
  /** Maker. */
  manufacturer?: string;
  /** Product name. */
  product?: string;
  /** Stock number. */
  sku?: string;
  /** Product version. */
  version?: string;
}

/** Resources of one kind of helper container. */
export interface SupportContainerResources {
  /** The resources. */
  resources: ResourceRequirementsWithoutClaims;
  /** Which helper: container-disk, hotplug-disk, virtiofs, sidecar, vmexport or guest-console-log. */
  type: string;
}

/** TLS that the roles accept. */
export interface TLSConfiguration {
  /** Cipher suites, for versions below 1.3. */
  ciphers?: string[];
  /** Oldest version that is accepted. */
  minTLSVersion?: "VersionTLS10" | "VersionTLS11" | "VersionTLS12" | "VersionTLS13" | (string & {});
}

/** Whether machine templates are installed. */
export interface VirtTemplateDeployment {
  /** Install them. */
  enabled?: boolean;
}

/** Options of every guest. */
export interface VirtualMachineOptions {
  /** Guests do not return unused memory to the node. */
  disableFreePageReporting?: DisableFreePageReporting;
  /** What guests print on the serial console is not logged. */
  disableSerialConsoleLog?: DisableSerialConsoleLog;
}

/** Present to turn free page reporting off. */
export type DisableFreePageReporting = Record<string, never>;

/** Present to turn the log of serial consoles off. */
export type DisableSerialConsoleLog = Record<string, never>;
