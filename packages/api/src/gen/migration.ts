// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Condition, KubeObject } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";

/** The wish to move a running machine instance to another node. */
export interface VirtualMachineInstanceMigration extends KubeObject {
  /** Which instance moves, and how. */
  spec: VirtualMachineInstanceMigrationSpec;
  /** How far it is. */
  status?: VirtualMachineInstanceMigrationStatus;
}

/** Which instance moves, and how. */
export interface VirtualMachineInstanceMigrationSpec {
  /** Labels that the target node must have besides those that the instance asks for. */
  addedNodeSelector?: Record<string, string>;
  /** Which waiting migrations go first: system-critical, user-triggered or system-maintenance. */
  priority?: string;
  /** The instance comes from another cluster. */
  receive?: VirtualMachineInstanceMigrationTarget;
  /** The instance goes to another cluster. */
  sendTo?: VirtualMachineInstanceMigrationSource;
  /** Instance in the same namespace. */
  vmiName?: string;
}

/** The receiving end of a migration between clusters. */
export interface VirtualMachineInstanceMigrationTarget {
  /** Name that both ends of the migration know. */
  migrationID: string;
}

/** The sending end of a migration between clusters. */
export interface VirtualMachineInstanceMigrationSource {
  /** Address of the receiving cluster. */
  connectURL: string;
  /** Name that both ends of the migration know. */
  migrationID: string;
}

/** How far a migration is. */
export interface VirtualMachineInstanceMigrationStatus {
  /** What is observed about the migration. */
  conditions?: Condition[];
  /** Copy of the instance's account of its migration, kept when the instance is gone. */
  migrationState?: VirtualMachineInstanceMigrationState;
  /** How far it is. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "PreparingTarget" | "TargetReady" | "WaitingForSync" | "Synchronizing" | "Running" | "Succeeded" | "Failed";
  /** When each phase began. */
  phaseTransitionTimestamps?: VirtualMachineInstanceMigrationPhaseTransitionTimestamp[];
  /** Where the other cluster reaches this one. */
  synchronizationAddresses?: string[];
}

/** When a phase began. */
export interface VirtualMachineInstanceMigrationPhaseTransitionTimestamp {
  /** The phase. */
  phase?: "Pending" | "Scheduling" | "Scheduled" | "PreparingTarget" | "TargetReady" | "WaitingForSync" | "Synchronizing" | "Running" | "Succeeded" | "Failed";
  /** When it began. */
  phaseTransitionTimestamp?: string;
}

/** Limits and behaviour of live migrations. */
export interface MigrationConfiguration {
  /** Slow the guest down when it changes memory faster than it can be copied. */
  allowAutoConverge?: boolean;
  /** Start the guest on the target before all memory is there. If the connection breaks then, the guest is lost. */
  allowPostCopy?: boolean;
  /** When copying does not finish in time, pause the guest or switch to post-copy instead of giving up. */
  allowWorkloadDisruption?: boolean;
  /** Most bytes that one migration sends each second; 0 for no limit. */
  bandwidthPerMigration?: Quantity;
  /** Seconds that a migration may take for each GiB of the guest; 150 when unset. */
  completionTimeoutPerGiB?: number;
  /** Do not encrypt what is sent between nodes. */
  disableTLS?: boolean;
  /** Give the target pod the SELinux level of the source; true when unset. */
  matchSELinuxLevelOnMigration?: boolean;
  /** How long the guest may stand still at the end, in milliseconds. */
  maxDowntimeMs?: number;
  /** Network attachment that migrations use; the pod network when unset. */
  network?: string;
  /** Taint on a node that makes its machines move away. */
  nodeDrainTaintKey?: string;
  /** How many migrations run at a time; 5 when unset. */
  parallelMigrationsPerCluster?: number;
  /** How many migrations leave one node at a time; 2 when unset. */
  parallelOutboundMigrationsPerNode?: number;
  /** Seconds without progress after which a migration is given up; 150 when unset. */
  progressTimeout?: number;
  /** Migrate although the stack thinks that it is not safe. */
  unsafeMigrationOverride?: boolean;
  /** Seconds that a migration waits for utility volumes to be detached. */
  utilityVolumesTimeout?: number;
}

/** The limits that one migration runs under. */
export interface VMIMConfigurationOptions {
  /** Slow the guest down when it changes memory faster than it can be copied. */
  allowAutoConverge?: boolean;
  /** Start the guest on the target before all memory is there. If the connection breaks then, the guest is lost. */
  allowPostCopy?: boolean;
  /** When copying does not finish in time, pause the guest or switch to post-copy instead of giving up. */
  allowWorkloadDisruption?: boolean;
  /** Most bytes that one migration sends each second; 0 for no limit. */
  bandwidthPerMigration?: Quantity;
  /** Seconds that a migration may take for each GiB of the guest; 150 when unset. */
  completionTimeoutPerGiB?: number;
  /** Do not encrypt what is sent between nodes. */
  disableTLS?: boolean;
  /** Ways to help slow migrations that may still change. */
  experimental?: ExperimentalMigrationOptions;
  /** Give the target pod the SELinux level of the source; true when unset. */
  matchSELinuxLevelOnMigration?: boolean;
  /** How long the guest may stand still at the end, in milliseconds. */
  maxDowntimeMs?: number;
  /** Network attachment that migrations use; the pod network when unset. */
  network?: string;
  /** Taint on a node that makes its machines move away. */
  nodeDrainTaintKey?: string;
  /** How many migrations run at a time; 5 when unset. */
  parallelMigrationsPerCluster?: number;
  /** How many migrations leave one node at a time; 2 when unset. */
  parallelOutboundMigrationsPerNode?: number;
  /** Seconds without progress after which a migration is given up; 150 when unset. */
  progressTimeout?: number;
  /** Migrate although the stack thinks that it is not safe. */
  unsafeMigrationOverride?: boolean;
  /** Seconds that a migration waits for utility volumes to be detached. */
  utilityVolumesTimeout?: number;
}

/** Ways to help slow migrations that may still change. */
export interface ExperimentalMigrationOptions {
  /** How memory is compressed on its way. */
  compression?: string;
  /** How the allowed downtime grows while copying goes on. */
  downtimeTuning?: DowntimeTuningOptions;
  /** When copying counts as stuck. */
  stallDetector?: StallDetectorOptions;
}

/** How the allowed downtime grows while copying goes on. */
export interface DowntimeTuningOptions {
  /** Seconds between two steps. */
  cooldownSeconds?: number;
  /** Downtime at the beginning, in milliseconds. */
  initialMs?: number;
  /** Round of copying after which it begins to grow. */
  startAfterIteration?: number;
  /** How many steps lead to the limit. */
  steps?: number;
}

/** When copying counts as stuck. */
export interface StallDetectorOptions {
  /** Factor on the completion timeout. */
  completionTimeoutFactor?: Quantity;
  /** Weight of the newest measurement in the moving average. */
  ewmaAlpha?: Quantity;
  /** How fast patience shrinks. */
  patienceWindowDecayFactor?: Quantity;
  /** How close copying must come to the allowed downtime to be thought possible. */
  precopyPossibleFactor?: Quantity;
  /** Wait for a moment at which little is left to copy. */
  searchLocalMinima?: boolean;
  /** Progress below which copying counts as stuck. */
  stallMargin?: number;
  /** Seconds without progress after which copying counts as stuck. */
  stallProgressTimeout?: number;
  /** Seconds that the switch to the target may take. */
  switchoverTimeout?: number;
}

/** Account of the latest migration of an instance. */
export interface VirtualMachineInstanceMigrationState {
  /** Someone asked to give it up. */
  abortRequested?: boolean;
  /** What became of that wish. */
  abortStatus?: "Succeeded" | "Failed" | "Aborting" | (string & {});
  /** It has ended, well or not. */
  completed?: boolean;
  /** When it ended. */
  endTimestamp?: string;
  /** It has ended and the guest stayed where it was. */
  failed?: boolean;
  /** Why it failed. */
  failureReason?: string;
  /** The limits that it runs under. */
  migrationConfiguration?: VMIMConfigurationOptions;
  /** Which network it uses: Pod or Migration. */
  migrationNetworkType?: string;
  /** Policy that set its limits. */
  migrationPolicyName?: string;
  /** UID of the migration object. */
  migrationUid?: string;
  /** How memory is being copied. */
  mode?: "PreCopy" | "PostCopy" | "Paused" | (string & {});
  /** Node that the guest leaves. */
  sourceNode?: string;
  /** Claim with the state that outlives the guest, at the source. */
  sourcePersistentStatePVCName?: string;
  /** Launcher pod that the guest leaves. */
  sourcePod?: string;
  /** The end that the guest leaves. */
  sourceState?: VirtualMachineInstanceMigrationSourceState;
  /** When it began. */
  startTimestamp?: string;
  /** UID of the target pod that holds hotplugged volumes. */
  targetAttachmentPodUID?: string;
  /** CPUs that the guest will be pinned to. */
  targetCPUSet?: number[];
  /** Ports of the target node, each with the port in the pod that it leads to. */
  targetDirectMigrationNodePorts?: Record<string, number>;
  /** Memory that the target launcher needs besides the guest's. */
  targetMemoryOverhead?: Quantity;
  /** Node that the guest moves to. */
  targetNode?: string;
  /** Address that the source connects to. */
  targetNodeAddress?: string;
  /** The domain has been seen on the target. */
  targetNodeDomainDetected?: boolean;
  /** When the guest ran on the target. */
  targetNodeDomainReadyTimestamp?: string;
  /** NUMA topology of the target node, as JSON. */
  targetNodeTopology?: string;
  /** Claim with the state that outlives the guest, at the target. */
  targetPersistentStatePVCName?: string;
  /** Launcher pod that the guest moves to. */
  targetPod?: string;
  /** The end that the guest moves to. */
  targetState?: VirtualMachineInstanceMigrationTargetState;
}

/** The end that the guest leaves. */
export interface VirtualMachineInstanceMigrationSourceState {
  /** Name of the domain there. */
  domainName?: string;
  /** Namespace of the domain there. */
  domainNamespace?: string;
  /** UID of the migration object there. */
  migrationUID?: string;
  /** Node. */
  node?: string;
  /** Labels that the source asks of the target node. */
  nodeSelectors?: Record<string, string>;
  /** Claim with the state that outlives the guest. */
  persistentStatePVCName?: string;
  /** Launcher pod. */
  pod?: string;
  /** SELinux context of the launcher. */
  selinuxContext?: string;
  /** Where this end is reached for synchronization. */
  syncAddress?: string;
  /** UID of the instance there. */
  virtualMachineInstanceUID?: string;
}

/** The end that the guest moves to. */
export interface VirtualMachineInstanceMigrationTargetState {
  /** UID of the pod that holds hotplugged volumes. */
  attachmentPodUID?: string;
  /** CPUs that the guest is pinned to. */
  cpuSet?: number[];
  /** Ports of the target node, each with the port in the pod that it leads to. */
  directMigrationNodePorts?: Record<string, number>;
  /** The domain has been seen on the target. */
  domainDetected?: boolean;
  /** Name of the domain there. */
  domainName?: string;
  /** Namespace of the domain there. */
  domainNamespace?: string;
  /** When the guest ran on the target. */
  domainReadyTimestamp?: string;
  /** UID of the migration object there. */
  migrationUID?: string;
  /** Node. */
  node?: string;
  /** Address that the source connects to. */
  nodeAddress?: string;
  /** NUMA topology of the node, as JSON. */
  nodeTopology?: string;
  /** Claim with the state that outlives the guest. */
  persistentStatePVCName?: string;
  /** Launcher pod. */
  pod?: string;
  /** SELinux context of the launcher. */
  selinuxContext?: string;
  /** Where this end is reached for synchronization. */
  syncAddress?: string;
  /** UID of the instance there. */
  virtualMachineInstanceUID?: string;
}
