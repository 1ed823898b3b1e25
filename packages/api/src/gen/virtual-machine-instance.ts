// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Affinity, Toleration, TopologySpreadConstraint } from "../k8s/affinity.ts";
import type { Condition, KubeObject } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";
import type { AccessCredential } from "./access-credential.ts";
import type { ChangedBlockTrackingStatus } from "./backup.ts";
import type { DomainSpec, Machine } from "./domain.ts";
import type { VirtualMachineInstanceNetworkInterface } from "./interface.ts";
import type { KernelBootStatus } from "./kernel-boot.ts";
import type { VirtualMachineInstanceMigrationState } from "./migration.ts";
import type { Network } from "./network.ts";
import type { Probe } from "./probe.ts";
import type { VirtualMachineInstanceResourceClaim } from "./resource-claim.ts";
import type { PodDNSConfig } from "./scheduling.ts";
import type { StorageMigratedVolumeInfo, VolumeStatus } from "./volume-status.ts";
import type { UtilityVolume, Volume } from "./volume.ts";

/** A machine that runs, or is about to. It ends with its guest. */
export interface VirtualMachineInstance extends KubeObject {
  /** What the machine is. */
  spec: VirtualMachineInstanceSpec;
  /** What the machine is doing. */
  status?: VirtualMachineInstanceStatus;
}

/** What a machine is: its hardware, its volumes and networks, and where it may run. */
export interface VirtualMachineInstanceSpec {
  /** Keys and passwords that are put into the guest while it runs. */
  accessCredentials?: AccessCredential[];
  /** Rules about the node and about other pods there. */
  affinity?: Affinity;
  /** Architecture of the guest; that of the cluster when unset. */
  architecture?: "amd64" | "arm64" | "s390x" | (string & {});
  /** Name servers and search domains of the guest. */
  dnsConfig?: PodDNSConfig;
  /** Where the guest's name servers come from. */
  dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None" | (string & {});
  /** The hardware of the guest. */
  domain: DomainSpec;
  /** What happens when the node is drained. */
  evictionStrategy?: "None" | "LiveMigrate" | "LiveMigrateIfPossible" | "External" | (string & {});
  /** Host name of the guest; the name of the instance when unset. */
  hostname?: string;
  /** Hypervisor to run on; that of the cluster or of the pool when unset. */
  hypervisor?: string;
  /** Check whose failure ends the guest. */
  livenessProbe?: Probe;
  /** Networks that interfaces of the same names connect to. */
  networks?: Network[];
  /** Labels that the node must have. */
  nodeSelector?: Record<string, string>;
  /** Priority of the guest's pod. */
  priorityClassName?: string;
  /** Check that decides whether the guest gets traffic. */
  readinessProbe?: Probe;
  /** Resource claims that devices and networks refer to. */
  resourceClaims?: VirtualMachineInstanceResourceClaim[];
  /** Scheduler that chooses the node. */
  schedulerName?: string;
  /** Service account of the guest's pod. */
  serviceAccountName?: string;
  /** Paused to leave the guest standing still after its start. */
  startStrategy?: "Paused" | (string & {});
  /** Subdomain of the guest's full name. */
  subdomain?: string;
  /** Seconds that the guest has to shut down before it is switched off; 30 when unset. */
  terminationGracePeriodSeconds?: number;
  /** Taints of nodes that are accepted. */
  tolerations?: Toleration[];
  /** How machines are spread over zones and nodes. */
  topologySpreadConstraints?: TopologySpreadConstraint[];
  /** Volumes for tasks of ours that the guest does not see. */
  utilityVolumes?: UtilityVolume[];
  /** What disks and file systems of the same names are backed by. */
  volumes?: Volume[];
}

/** What a machine is doing. */
export interface VirtualMachineInstanceStatus {
  /** Address of the guest on VSOCK. */
  VSOCKCID?: number;
  /** Launcher pods by UID, each with its node. */
  activePods?: Record<string, string>;
  /** Whether changed blocks are tracked for incremental backup. */
  changedBlockTracking?: ChangedBlockTrackingStatus;
  /** Ready, LiveMigratable, Paused, AgentConnected and others, each with its reason. */
  conditions?: Condition[];
  /** CPU topology that the guest has now. */
  currentCPUTopology?: CPUTopology;
  /** Node that the guest must leave. */
  evacuationNodeName?: string;
  /** Whether the guest's file systems stand still. */
  fsFreezeStatus?: "frozen" | "thawed" | (string & {});
  /** What the guest agent says about the system. */
  guestOSInfo?: VirtualMachineInstanceGuestOSInfo;
  /** Network interfaces as the guest has them. */
  interfaces?: VirtualMachineInstanceNetworkInterface[];
  /** Kernel and initrd that were started. */
  kernelBootStatus?: KernelBootStatus;
  /** Image of the launcher. */
  launcherContainerImageVersion?: string;
  /** Machine type that the guest got. */
  machine?: Machine;
  /** Memory of the guest, as started, now and wanted. */
  memory?: MemoryStatus;
  /** Volumes that are being copied to other claims. */
  migratedVolumes?: StorageMigratedVolumeInfo[];
  /** Whether a migration must copy disks, too. */
  migrationMethod?: "BlockMigration" | "LiveMigration" | (string & {});
  /** Account of the latest migration. */
  migrationState?: VirtualMachineInstanceMigrationState;
  /** How the launchers of a migration talk to each other. */
  migrationTransport?: string;
  /** Node that the guest runs on. */
  nodeName?: string;
  /** How far the machine is. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "Running" | "Succeeded" | "Failed" | "WaitingForSync" | "Unknown";
  /** When each phase began. */
  phaseTransitionTimestamps?: VirtualMachineInstancePhaseTransitionTimestamp[];
  /** Quality of service of the launcher pod. */
  qosClass?: "BestEffort" | "Burstable" | "Guaranteed" | (string & {});
  /** Why the machine is in this phase, in one word. */
  reason?: string;
  /** User that the launcher runs as; 0 for root. */
  runtimeUser?: number;
  /** SELinux context of the launcher. */
  selinuxContext?: string;
  /** What the node must have in common with later ones. */
  topologyHints?: TopologyHints;
  /** ControllerRevision of the machine that was started. */
  virtualMachineRevisionName?: string;
  /** Program that runs the guest. */
  vmm?: VirtualMachineMonitor;
  /** State of the volumes. */
  volumeStatus?: VolumeStatus[];
}

/** Program that runs a guest, as its launcher names it. */
export interface VirtualMachineMonitor {
  /** For example QEMU. */
  name?: string;
  /** Its version. */
  version?: string;
}

/** What the guest agent says about the system. */
export interface VirtualMachineInstanceGuestOSInfo {
  /** Name of the system. */
  name?: string;
  /** Short name of the system. */
  id?: string;
  /** Release of the kernel. */
  kernelRelease?: string;
  /** Version of the kernel. */
  kernelVersion?: string;
  /** Architecture as the guest names it. */
  machine?: string;
  /** Name of the system for people. */
  prettyName?: string;
  /** Version of the system. */
  version?: string;
  /** Version of the system for programs. */
  versionId?: string;
}

/** When a phase began. */
export interface VirtualMachineInstancePhaseTransitionTimestamp {
  /** The phase. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "Running" | "Succeeded" | "Failed" | "WaitingForSync" | "Unknown";
  /** When it began. */
  phaseTransitionTimestamp?: string;
}

/** How vCPUs are arranged. */
export interface CPUTopology {
  /** Cores in each socket. */
  cores?: number;
  /** Sockets. */
  sockets?: number;
  /** Threads in each core. */
  threads?: number;
}

/** Memory of a guest. */
export interface MemoryStatus {
  /** What it started with. */
  guestAtBoot?: Quantity;
  /** What it has now. */
  guestCurrent?: Quantity;
  /** What it should have. */
  guestRequested?: Quantity;
  /** What the launcher needs besides. */
  memoryOverhead?: Quantity;
}

/** What the node must have in common with later ones. */
export interface TopologyHints {
  /** TSC frequency of the guest, in hertz. */
  tscFrequency?: number;
}
