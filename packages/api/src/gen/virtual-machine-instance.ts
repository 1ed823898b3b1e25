// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Affinity, Toleration, TopologySpreadConstraint } from "../k8s/affinity.ts";
import type { Condition, KubeObject } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";
import type { AccessCredential } from "./access-credential.ts";
import type { DomainSpec, Machine } from "./domain.ts";
import type { VirtualMachineInstanceNetworkInterface } from "./interface.ts";
import type { KernelBootStatus } from "./kernel-boot.ts";
import type { VirtualMachineInstanceMigrationState } from "./migration.ts";
import type { Network } from "./network.ts";
import type { Probe } from "./probe.ts";
import type { VirtualMachineInstanceResourceClaim } from "./resource-claim.ts";
import type { PodDNSConfig } from "./scheduling.ts";
import type { ChangedBlockTrackingStatus, StorageMigratedVolumeInfo } from "./virtual-machine.ts";
import type { VolumeStatus } from "./volume-status.ts";
import type { UtilityVolume, Volume } from "./volume.ts";

/** Virtual machine instance. */
export interface VirtualMachineInstance extends KubeObject {
  /** Spec. */
  spec: VirtualMachineInstanceSpec;
  /** Status. */
  status?: VirtualMachineInstanceStatus;
}

/** Virtual machine instance spec. */
export interface VirtualMachineInstanceSpec {
  /** Access credentials. */
  accessCredentials?: AccessCredential[];
  /** Affinity. */
  affinity?: Affinity;
  /** Architecture. */
  architecture?: "amd64" | "arm64" | "s390x" | (string & {});
  /** Dns config. */
  dnsConfig?: PodDNSConfig;
  /** Dns policy. */
  dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None" | (string & {});
  /** Domain. */
  domain: DomainSpec;
  /** Eviction strategy. */
  evictionStrategy?: "None" | "LiveMigrate" | "LiveMigrateIfPossible" | "External" | (string & {});
  /** Hostname. */
  hostname?: string;
  /** Hypervisor. */
  hypervisor?: string;
  /** Liveness probe. */
  livenessProbe?: Probe;
  /** Networks. */
  networks?: Network[];
  /** Node selector. */
  nodeSelector?: Record<string, string>;
  /** Priority class name. */
  priorityClassName?: string;
  /** Readiness probe. */
  readinessProbe?: Probe;
  /** Resource claims. */
  resourceClaims?: VirtualMachineInstanceResourceClaim[];
  /** Scheduler name. */
  schedulerName?: string;
  /** Service account name. */
  serviceAccountName?: string;
  /** Start strategy. */
  startStrategy?: "Paused" | (string & {});
  /** Subdomain. */
  subdomain?: string;
  /** Termination grace period seconds. */
  terminationGracePeriodSeconds?: number;
  /** Tolerations. */
  tolerations?: Toleration[];
  /** Topology spread constraints. */
  topologySpreadConstraints?: TopologySpreadConstraint[];
  /** Utility volumes. */
  utilityVolumes?: UtilityVolume[];
  /** Volumes. */
  volumes?: Volume[];
}

/** Virtual machine instance status. */
export interface VirtualMachineInstanceStatus {
  /** VSOCKCID. */
  VSOCKCID?: number;
  /** Active pods. */
  activePods?: Record<string, string>;
  /** Changed block tracking. */
  changedBlockTracking?: ChangedBlockTrackingStatus;
  /** Conditions. */
  conditions?: Condition[];
  /** Current CPU topology. */
  currentCPUTopology?: CPUTopology;
  /** Evacuation node name. */
  evacuationNodeName?: string;
  /** Fs freeze status. */
  fsFreezeStatus?: "frozen" | "thawed" | (string & {});
  /** Guest OS info. */
  guestOSInfo?: VirtualMachineInstanceGuestOSInfo;
  /** Interfaces. */
  interfaces?: VirtualMachineInstanceNetworkInterface[];
  /** Kernel boot status. */
  kernelBootStatus?: KernelBootStatus;
  /** Launcher container image version. */
  launcherContainerImageVersion?: string;
  /** Machine. */
  machine?: Machine;
  /** Memory. */
  memory?: MemoryStatus;
  /** Migrated volumes. */
  migratedVolumes?: StorageMigratedVolumeInfo[];
  /** Migration method. */
  migrationMethod?: "BlockMigration" | "LiveMigration" | (string & {});
  /** Migration state. */
  migrationState?: VirtualMachineInstanceMigrationState;
  /** Migration transport. */
  migrationTransport?: string;
  /** Node name. */
  nodeName?: string;
  /** Phase. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "Running" | "Succeeded" | "Failed" | "WaitingForSync" | "Unknown";
  /** Phase transition timestamps. */
  phaseTransitionTimestamps?: VirtualMachineInstancePhaseTransitionTimestamp[];
  /** Qos class. */
  qosClass?: "BestEffort" | "Burstable" | "Guaranteed" | (string & {});
  /** Reason. */
  reason?: string;
  /** Runtime user. */
  runtimeUser?: number;
  /** Selinux context. */
  selinuxContext?: string;
  /** Topology hints. */
  topologyHints?: TopologyHints;
  /** Virtual machine revision name. */
  virtualMachineRevisionName?: string;
  /** Volume status. */
  volumeStatus?: VolumeStatus[];
}

/** Virtual machine instance guest OS info. */
export interface VirtualMachineInstanceGuestOSInfo {
  /** Name. */
  name?: string;
  /** Id. */
  id?: string;
  /** Kernel release. */
  kernelRelease?: string;
  /** Kernel version. */
  kernelVersion?: string;
  /** Machine. */
  machine?: string;
  /** Pretty name. */
  prettyName?: string;
  /** Version. */
  version?: string;
  /** Version id. */
  versionId?: string;
}

/** Virtual machine instance phase transition timestamp. */
export interface VirtualMachineInstancePhaseTransitionTimestamp {
  /** Phase. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "Running" | "Succeeded" | "Failed" | "WaitingForSync" | "Unknown";
  /** Phase transition timestamp. */
  phaseTransitionTimestamp?: string;
}

/** CPU topology. */
export interface CPUTopology {
  /** Cores. */
  cores?: number;
  /** Sockets. */
  sockets?: number;
  /** Threads. */
  threads?: number;
}

/** Memory status. */
export interface MemoryStatus {
  /** Guest at boot. */
  guestAtBoot?: Quantity;
  /** Guest current. */
  guestCurrent?: Quantity;
  /** Guest requested. */
  guestRequested?: Quantity;
  /** Memory overhead. */
  memoryOverhead?: Quantity;
}

/** Topology hints. */
export interface TopologyHints {
  /** Tsc frequency. */
  tscFrequency?: number;
}
