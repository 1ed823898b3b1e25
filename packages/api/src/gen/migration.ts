// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Condition, KubeObject } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";

/** Virtual machine instance migration. */
export interface VirtualMachineInstanceMigration extends KubeObject {
  /** Spec. */
  spec: VirtualMachineInstanceMigrationSpec;
  /** Status. */
  status?: VirtualMachineInstanceMigrationStatus;
}

/** Virtual machine instance migration spec. */
export interface VirtualMachineInstanceMigrationSpec {
  /** Added node selector. */
  addedNodeSelector?: Record<string, string>;
  /** Priority. */
  priority?: string;
  /** Receive. */
  receive?: VirtualMachineInstanceMigrationTarget;
  /** Send to. */
  sendTo?: VirtualMachineInstanceMigrationSource;
  /** Vmi name. */
  vmiName?: string;
}

/** Virtual machine instance migration target. */
export interface VirtualMachineInstanceMigrationTarget {
  /** Migration ID. */
  migrationID: string;
}

/** Virtual machine instance migration source. */
export interface VirtualMachineInstanceMigrationSource {
  /** Connect URL. */
  connectURL: string;
  /** Migration ID. */
  migrationID: string;
}

/** Virtual machine instance migration status. */
export interface VirtualMachineInstanceMigrationStatus {
  /** Conditions. */
  conditions?: Condition[];
  /** Migration state. */
  migrationState?: VirtualMachineInstanceMigrationState;
  /** Phase. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "PreparingTarget" | "TargetReady" | "WaitingForSync" | "Synchronizing" | "Running" | "Succeeded" | "Failed";
  /** Phase transition timestamps. */
  phaseTransitionTimestamps?: VirtualMachineInstanceMigrationPhaseTransitionTimestamp[];
  /** Synchronization addresses. */
  synchronizationAddresses?: string[];
}

/** Virtual machine instance migration phase transition timestamp. */
export interface VirtualMachineInstanceMigrationPhaseTransitionTimestamp {
  /** Phase. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "PreparingTarget" | "TargetReady" | "WaitingForSync" | "Synchronizing" | "Running" | "Succeeded" | "Failed";
  /** Phase transition timestamp. */
  phaseTransitionTimestamp?: string;
}

/** Migration configuration. */
export interface MigrationConfiguration {
  /** Allow auto converge. */
  allowAutoConverge?: boolean;
  /** Allow post copy. */
  allowPostCopy?: boolean;
  /** Allow workload disruption. */
  allowWorkloadDisruption?: boolean;
  /** Bandwidth per migration. */
  bandwidthPerMigration?: Quantity;
  /** Completion timeout per gi B. */
  completionTimeoutPerGiB?: number;
  /** Disable TLS. */
  disableTLS?: boolean;
  /** Match SE linux level on migration. */
  matchSELinuxLevelOnMigration?: boolean;
  /** Max downtime ms. */
  maxDowntimeMs?: number;
  /** Network. */
  network?: string;
  /** Node drain taint key. */
  nodeDrainTaintKey?: string;
  /** Parallel migrations per cluster. */
  parallelMigrationsPerCluster?: number;
  /** Parallel outbound migrations per node. */
  parallelOutboundMigrationsPerNode?: number;
  /** Progress timeout. */
  progressTimeout?: number;
  /** Unsafe migration override. */
  unsafeMigrationOverride?: boolean;
  /** Utility volumes timeout. */
  utilityVolumesTimeout?: number;
}

/** VMIM configuration options. */
export interface VMIMConfigurationOptions {
  /** Allow auto converge. */
  allowAutoConverge?: boolean;
  /** Allow post copy. */
  allowPostCopy?: boolean;
  /** Allow workload disruption. */
  allowWorkloadDisruption?: boolean;
  /** Bandwidth per migration. */
  bandwidthPerMigration?: Quantity;
  /** Completion timeout per gi B. */
  completionTimeoutPerGiB?: number;
  /** Disable TLS. */
  disableTLS?: boolean;
  /** Experimental. */
  experimental?: ExperimentalMigrationOptions;
  /** Match SE linux level on migration. */
  matchSELinuxLevelOnMigration?: boolean;
  /** Max downtime ms. */
  maxDowntimeMs?: number;
  /** Network. */
  network?: string;
  /** Node drain taint key. */
  nodeDrainTaintKey?: string;
  /** Parallel migrations per cluster. */
  parallelMigrationsPerCluster?: number;
  /** Parallel outbound migrations per node. */
  parallelOutboundMigrationsPerNode?: number;
  /** Progress timeout. */
  progressTimeout?: number;
  /** Unsafe migration override. */
  unsafeMigrationOverride?: boolean;
  /** Utility volumes timeout. */
  utilityVolumesTimeout?: number;
}

/** Experimental migration options. */
export interface ExperimentalMigrationOptions {
  /** Compression. */
  compression?: string;
  /** Downtime tuning. */
  downtimeTuning?: DowntimeTuningOptions;
  /** Stall detector. */
  stallDetector?: StallDetectorOptions;
}

/** Downtime tuning options. */
export interface DowntimeTuningOptions {
  /** Cooldown seconds. */
  cooldownSeconds?: number;
  /** Initial ms. */
  initialMs?: number;
  /** Start after iteration. */
  startAfterIteration?: number;
  /** Steps. */
  steps?: number;
}

/** Stall detector options. */
export interface StallDetectorOptions {
  /** Completion timeout factor. */
  completionTimeoutFactor?: Quantity;
  /** Ewma alpha. */
  ewmaAlpha?: Quantity;
  /** Patience window decay factor. */
  patienceWindowDecayFactor?: Quantity;
  /** Precopy possible factor. */
  precopyPossibleFactor?: Quantity;
  /** Search local minima. */
  searchLocalMinima?: boolean;
  /** Stall margin. */
  stallMargin?: number;
  /** Stall progress timeout. */
  stallProgressTimeout?: number;
  /** Switchover timeout. */
  switchoverTimeout?: number;
}

/** Virtual machine instance migration state. */
export interface VirtualMachineInstanceMigrationState {
  /** Abort requested. */
  abortRequested?: boolean;
  /** Abort status. */
  abortStatus?: "Succeeded" | "Failed" | "Aborting" | (string & {});
  /** Completed. */
  completed?: boolean;
  /** End timestamp. */
  endTimestamp?: string;
  /** Failed. */
  failed?: boolean;
  /** Failure reason. */
  failureReason?: string;
  /** Migration configuration. */
  migrationConfiguration?: VMIMConfigurationOptions;
  /** Migration network type. */
  migrationNetworkType?: string;
  /** Migration policy name. */
  migrationPolicyName?: string;
  /** Migration uid. */
  migrationUid?: string;
  /** Mode. */
  mode?: "PreCopy" | "PostCopy" | "Paused" | (string & {});
  /** Source node. */
  sourceNode?: string;
  /** Source persistent state PVC name. */
  sourcePersistentStatePVCName?: string;
  /** Source pod. */
  sourcePod?: string;
  /** Source state. */
  sourceState?: VirtualMachineInstanceMigrationSourceState;
  /** Start timestamp. */
  startTimestamp?: string;
  /** Target attachment pod UID. */
  targetAttachmentPodUID?: string;
  /** Target CPU set. */
  targetCPUSet?: number[];
  /** Target direct migration node ports. */
  targetDirectMigrationNodePorts?: Record<string, number>;
  /** Target memory overhead. */
  targetMemoryOverhead?: Quantity;
  /** Target node. */
  targetNode?: string;
  /** Target node address. */
  targetNodeAddress?: string;
  /** Target node domain detected. */
  targetNodeDomainDetected?: boolean;
  /** Target node domain ready timestamp. */
  targetNodeDomainReadyTimestamp?: string;
  /** Target node topology. */
  targetNodeTopology?: string;
  /** Target persistent state PVC name. */
  targetPersistentStatePVCName?: string;
  /** Target pod. */
  targetPod?: string;
  /** Target state. */
  targetState?: VirtualMachineInstanceMigrationTargetState;
}

/** Virtual machine instance migration source state. */
export interface VirtualMachineInstanceMigrationSourceState {
  /** Domain name. */
  domainName?: string;
  /** Domain namespace. */
  domainNamespace?: string;
  /** Migration UID. */
  migrationUID?: string;
  /** Node. */
  node?: string;
  /** Node selectors. */
  nodeSelectors?: Record<string, string>;
  /** Persistent state PVC name. */
  persistentStatePVCName?: string;
  /** Pod. */
  pod?: string;
  /** Selinux context. */
  selinuxContext?: string;
  /** Sync address. */
  syncAddress?: string;
  /** Virtual machine instance UID. */
  virtualMachineInstanceUID?: string;
}

/** Virtual machine instance migration target state. */
export interface VirtualMachineInstanceMigrationTargetState {
  /** Attachment pod UID. */
  attachmentPodUID?: string;
  /** Cpu set. */
  cpuSet?: number[];
  /** Direct migration node ports. */
  directMigrationNodePorts?: Record<string, number>;
  /** Domain detected. */
  domainDetected?: boolean;
  /** Domain name. */
  domainName?: string;
  /** Domain namespace. */
  domainNamespace?: string;
  /** Domain ready timestamp. */
  domainReadyTimestamp?: string;
  /** Migration UID. */
  migrationUID?: string;
  /** Node. */
  node?: string;
  /** Node address. */
  nodeAddress?: string;
  /** Node topology. */
  nodeTopology?: string;
  /** Persistent state PVC name. */
  persistentStatePVCName?: string;
  /** Pod. */
  pod?: string;
  /** Selinux context. */
  selinuxContext?: string;
  /** Sync address. */
  syncAddress?: string;
  /** Virtual machine instance UID. */
  virtualMachineInstanceUID?: string;
}
