// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { LabelSelector } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";
import type { HypervisorConfiguration } from "./hypervisor.ts";
import type { MigrationConfiguration } from "./migration.ts";
import type { MediatedDevicesConfiguration, PermittedHostDevices } from "./permitted-host-device.ts";
import type { VirtualizationProfile } from "./virtualization-profile.ts";

/** Kube virt configuration. */
export interface KubeVirtConfiguration {
  /** Additional guest memory overhead ratio. */
  additionalGuestMemoryOverheadRatio?: string;
  /** Api configuration. */
  apiConfiguration?: ReloadableComponentConfiguration;
  /** Architecture configuration. */
  architectureConfiguration?: ArchConfiguration;
  /** Auto CPU limit namespace label selector. */
  autoCPULimitNamespaceLabelSelector?: LabelSelector;
  /** Changed block tracking label selectors. */
  changedBlockTrackingLabelSelectors?: ChangedBlockTrackingSelectors;
  /** Common instancetypes deployment. */
  commonInstancetypesDeployment?: CommonInstancetypesDeployment;
  /** Confidential compute. */
  confidentialCompute?: ConfidentialComputeConfiguration;
  /** Controller configuration. */
  controllerConfiguration?: ReloadableComponentConfiguration;
  /** Cpu model. */
  cpuModel?: string;
  /** Cpu request. */
  cpuRequest?: Quantity;
  /** Default runtime class. */
  defaultRuntimeClass?: string;
  /** Developer configuration. */
  developerConfiguration?: DeveloperConfiguration;
  /** Emulated machines. */
  emulatedMachines?: string[];
  /** Eviction strategy. */
  evictionStrategy?: "None" | "LiveMigrate" | "LiveMigrateIfPossible" | "External" | (string & {});
  /** Handler configuration. */
  handlerConfiguration?: ReloadableComponentConfiguration;
  /** Hypervisor. */
  hypervisor?: HypervisorConfiguration[];
  /** Hypervisors. */
  hypervisors?: HypervisorConfiguration[];
  /** Image pull policy. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** Instancetype. */
  instancetype?: InstancetypeConfiguration;
  /** Ksm configuration. */
  ksmConfiguration?: KSMConfiguration;
  /** Live update configuration. */
  liveUpdateConfiguration?: LiveUpdateConfiguration;
  /** Machine type. */
  machineType?: string;
  /** Mediated devices configuration. */
  mediatedDevicesConfiguration?: MediatedDevicesConfiguration;
  /** Mem balloon stats period. */
  memBalloonStatsPeriod?: number;
  /** Migrations. */
  migrations?: MigrationConfiguration;
  /** Min CPU model. */
  minCPUModel?: string;
  /** Network. */
  network?: NetworkConfiguration;
  /** Obsolete CPU models. */
  obsoleteCPUModels?: Record<string, boolean>;
  /** Ovmf path. */
  ovmfPath?: string;
  /** Permitted host devices. */
  permittedHostDevices?: PermittedHostDevices;
  /** Persistent reservation configuration. */
  persistentReservationConfiguration?: PersistentReservationConfiguration;
  /** Role aggregation strategy. */
  roleAggregationStrategy?: string;
  /** Seccomp configuration. */
  seccompConfiguration?: SeccompConfiguration;
  /** Selinux launcher type. */
  selinuxLauncherType?: string;
  /** Smbios. */
  smbios?: SMBiosConfiguration;
  /** Support container resources. */
  supportContainerResources?: SupportContainerResources[];
  /** Supported guest agent versions. */
  supportedGuestAgentVersions?: string[];
  /** Tls configuration. */
  tlsConfiguration?: TLSConfiguration;
  /** Virt template deployment. */
  virtTemplateDeployment?: VirtTemplateDeployment;
  /** Virtual machine instances per node. */
  virtualMachineInstancesPerNode?: number;
  /** Virtual machine options. */
  virtualMachineOptions?: VirtualMachineOptions;
  /** Virtualization profile. */
  virtualizationProfile?: VirtualizationProfile;
  /** Vm rollout strategy. */
  vmRolloutStrategy?: "Stage" | "LiveUpdate" | (string & {});
  /** Vm state storage class. */
  vmStateStorageClass?: string;
  /** Webhook configuration. */
  webhookConfiguration?: ReloadableComponentConfiguration;
}

/** Reloadable component configuration. */
export interface ReloadableComponentConfiguration {
  /** Rest client. */
  restClient?: RESTClientConfiguration;
}

/** REST client configuration. */
export interface RESTClientConfiguration {
  /** Rate limiter. */
  rateLimiter?: RateLimiter;
}

/** Rate limiter. */
export interface RateLimiter {
  /** Token bucket rate limiter. */
  tokenBucketRateLimiter?: TokenBucketRateLimiter;
}

/** Token bucket rate limiter. */
export interface TokenBucketRateLimiter {
  /** Burst. */
  burst: number;
  /** Qps. */
  qps: number;
}

/** Arch configuration. */
export interface ArchConfiguration {
  /** Amd64. */
  amd64?: ArchSpecificConfiguration;
  /** Arm64. */
  arm64?: ArchSpecificConfiguration;
  /** Default architecture. */
  defaultArchitecture?: string;
  /** Ppc64le. */
  ppc64le?: ArchSpecificConfiguration;
  /** S390x. */
  s390x?: ArchSpecificConfiguration;
}

/** Arch specific configuration. */
export interface ArchSpecificConfiguration {
  /** Emulated machines. */
  emulatedMachines?: string[];
  /** Machine type. */
  machineType?: string;
  /** Ovmf path. */
  ovmfPath?: string;
}

/** Changed block tracking selectors. */
export interface ChangedBlockTrackingSelectors {
  /** Namespace label selector. */
  namespaceLabelSelector?: LabelSelector;
  /** Virtual machine label selector. */
  virtualMachineLabelSelector?: LabelSelector;
}

/** Common instancetypes deployment. */
export interface CommonInstancetypesDeployment {
  /** Enabled. */
  enabled?: boolean;
}

/** Confidential compute configuration. */
export interface ConfidentialComputeConfiguration {
  /** Tdx. */
  tdx?: TDXConfiguration;
}

/** TDX configuration. */
export interface TDXConfiguration {
  /** Attestation. */
  attestation?: TDXAttestationConfiguration;
}

/** TDX attestation configuration. */
export interface TDXAttestationConfiguration {
  /** Enforced. */
  enforced?: boolean;
  /** Qgs socket path. */
  qgsSocketPath?: string;
}

/** Developer configuration. */
export interface DeveloperConfiguration {
  /** Cluster profiler. */
  clusterProfiler?: boolean;
  /** Cpu allocation ratio. */
  cpuAllocationRatio?: number;
  /** Disabled feature gates. */
  disabledFeatureGates?: string[];
  /** Disk verification. */
  diskVerification?: DiskVerification;
  /** Feature gates. */
  featureGates?: string[];
  /** Log verbosity. */
  logVerbosity?: LogVerbosity;
  /** Memory overcommit. */
  memoryOvercommit?: number;
  /** Minimum cluster TSC frequency. */
  minimumClusterTSCFrequency?: number;
  /** Minimum reserve PVC bytes. */
  minimumReservePVCBytes?: number;
  /** Node selectors. */
  nodeSelectors?: Record<string, string>;
  /** Pvc tolerate less space up to percent. */
  pvcTolerateLessSpaceUpToPercent?: number;
  /** Use emulation. */
  useEmulation?: boolean;
}

/** Disk verification. */
export interface DiskVerification {
  /** Memory limit. */
  memoryLimit: Quantity;
}

/** Log verbosity. */
export interface LogVerbosity {
  /** Node verbosity. */
  nodeVerbosity?: Record<string, number>;
  /** Virt API. */
  virtAPI?: number;
  /** Virt controller. */
  virtController?: number;
  /** Virt handler. */
  virtHandler?: number;
  /** Virt launcher. */
  virtLauncher?: number;
  /** Virt operator. */
  virtOperator?: number;
  /** Virt synchronization controller. */
  virtSynchronizationController?: number;
}

/** Instancetype configuration. */
export interface InstancetypeConfiguration {
  /** Reference policy. */
  referencePolicy?: "reference" | "expand" | "expandAll" | (string & {});
}

/** KSM configuration. */
export interface KSMConfiguration {
  /** Node label selector. */
  nodeLabelSelector?: LabelSelector;
}

/** Live update configuration. */
export interface LiveUpdateConfiguration {
  /** Max cpu sockets. */
  maxCpuSockets?: number;
  /** Max guest. */
  maxGuest?: Quantity;
  /** Max hotplug ratio. */
  maxHotplugRatio?: number;
}

/** Network configuration. */
export interface NetworkConfiguration {
  /** Binding. */
  binding?: Record<string, InterfaceBindingPlugin>;
  /** Default network interface. */
  defaultNetworkInterface?: "bridge" | "masquerade" | (string & {});
  /** Permit bridge interface on pod network. */
  permitBridgeInterfaceOnPodNetwork?: boolean;
  /** Permit slirp interface. */
  permitSlirpInterface?: boolean;
}

/** Interface binding plugin. */
export interface InterfaceBindingPlugin {
  /** Compute resource overhead. */
  computeResourceOverhead?: ResourceRequirementsWithoutClaims;
  /** Domain attachment type. */
  domainAttachmentType?: string;
  /** Downward API. */
  downwardAPI?: string;
  /** Migration. */
  migration?: InterfaceBindingMigration;
  /** Network attachment definition. */
  networkAttachmentDefinition?: string;
  /** Sidecar image. */
  sidecarImage?: string;
}

/** Resource requirements without claims. */
export interface ResourceRequirementsWithoutClaims {
  /** Limits. */
  limits?: Record<string, Quantity>;
  /** Requests. */
  requests?: Record<string, Quantity>;
}

/** Interface binding migration. */
export interface InterfaceBindingMigration {
  /** Method. */
  method?: string;
}

/** Persistent reservation configuration. */
export interface PersistentReservationConfiguration {
  /** Enabled. */
  enabled?: boolean;
}

/** Seccomp configuration. */
export interface SeccompConfiguration {
  /** Virtual machine instance profile. */
  virtualMachineInstanceProfile?: VirtualMachineInstanceProfile;
}

/** Virtual machine instance profile. */
export interface VirtualMachineInstanceProfile {
  /** Custom profile. */
  customProfile?: CustomProfile;
}

/** Custom profile. */
export interface CustomProfile {
  /** Localhost profile. */
  localhostProfile?: string;
  /** Runtime default profile. */
  runtimeDefaultProfile?: boolean;
}

/** SM bios configuration. */
export interface SMBiosConfiguration {
  /** Family. */
  family?: string;
  /** Manufacturer. */
  manufacturer?: string;
  /** Product. */
  product?: string;
  /** Sku. */
  sku?: string;
  /** Version. */
  version?: string;
}

/** Support container resources. */
export interface SupportContainerResources {
  /** Resources. */
  resources: ResourceRequirementsWithoutClaims;
  /** Type. */
  type: string;
}

/** TLS configuration. */
export interface TLSConfiguration {
  /** Ciphers. */
  ciphers?: string[];
  /** Min TLS version. */
  minTLSVersion?: "VersionTLS10" | "VersionTLS11" | "VersionTLS12" | "VersionTLS13" | (string & {});
}

/** Virt template deployment. */
export interface VirtTemplateDeployment {
  /** Enabled. */
  enabled?: boolean;
}

/** Virtual machine options. */
export interface VirtualMachineOptions {
  /** Disable free page reporting. */
  disableFreePageReporting?: DisableFreePageReporting;
  /** Disable serial console log. */
  disableSerialConsoleLog?: DisableSerialConsoleLog;
}

/** Disable free page reporting. */
export type DisableFreePageReporting = Record<string, never>;

/** Disable serial console log. */
export type DisableSerialConsoleLog = Record<string, never>;
