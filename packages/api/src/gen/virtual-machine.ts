// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Condition, KubeObject, ObjectMeta } from "../k8s/meta.ts";
import type { ChangedBlockTrackingStatus } from "./backup.ts";
import type { DataVolumeTemplateSpec } from "./data-volume.ts";
import type { Disk } from "./disk.ts";
import type { InstancetypeMatcher, InstancetypeStatusRef, PreferenceMatcher } from "./instancetype.ts";
import type { VirtualMachineInstanceSpec } from "./virtual-machine-instance.ts";
import type { StorageMigratedVolumeInfo } from "./volume-status.ts";
import type { DataVolumeSource, PersistentVolumeClaimVolumeSource } from "./volume.ts";

/** A machine that exists whether it runs or not. While it should run, there is an instance of the same name. */
export interface VirtualMachine extends KubeObject {
  /** When the machine runs, and what it is. */
  spec: VirtualMachineSpec;
  /** What the machine is doing. */
  status?: VirtualMachineStatus;
}

/** When a machine runs, and what it is. One of running and runStrategy is set. */
export interface VirtualMachineSpec {
  /** Disks that are made for the machine and go with it. */
  dataVolumeTemplates?: DataVolumeTemplateSpec[];
  /** Sizes that the machine takes from elsewhere. */
  instancetype?: InstancetypeMatcher;
  /** Preferred settings that the machine takes from elsewhere. */
  preference?: PreferenceMatcher;
  /** When the machine runs. */
  runStrategy?: "Always" | "Halted" | "Manual" | "RerunOnFailure" | "Once" | "WaitAsReceiver" | (string & {});
  /** Whether the machine runs. Use runStrategy instead. */
  running?: boolean;
  /** The instance that is made to run the machine. */
  template: VirtualMachineInstanceTemplateSpec;
  /** What a change of volumes does to the running guest. */
  updateVolumesStrategy?: "Replacement" | "Migration" | (string & {});
}

/** What a machine is doing. */
export interface VirtualMachineStatus {
  /** Whether changed blocks are tracked for incremental backup. */
  changedBlockTracking?: ChangedBlockTrackingStatus;
  /** Ready, Paused, Failure, RestartRequired and others, each with its reason. */
  conditions?: Condition[];
  /** There is an instance. */
  created?: boolean;
  /** The generation of this object that should run. */
  desiredGeneration?: number;
  /** The instance type that is in effect. */
  instancetypeRef?: InstancetypeStatusRef;
  /** Memory dump that is wanted or was made. */
  memoryDumpRequest?: VirtualMachineMemoryDumpRequest;
  /** The generation of this object that runs. */
  observedGeneration?: number;
  /** The preference that is in effect. */
  preferenceRef?: InstancetypeStatusRef;
  /** What the machine is doing, in one word. */
  printableStatus?: "Stopped" | "Provisioning" | "Starting" | "Running" | "Paused" | "Stopping" | "Terminating" | "CrashLoopBackOff" | "Migrating" | "Unknown" | "ErrorUnschedulable" | "ErrImagePull" | "ImagePullBackOff" | "ErrorPvcNotFound" | "DataVolumeError" | "WaitingForVolumeBinding" | "WaitingForReceiver";
  /** The guest is ready. */
  ready?: boolean;
  /** Restore that is under way. */
  restoreInProgress?: string;
  /** Run strategy when it was last acted on. */
  runStrategy?: string;
  /** Snapshot that is under way. */
  snapshotInProgress?: string;
  /** Failed starts, and when the next is tried. */
  startFailure?: VirtualMachineStartFailure;
  /** Starts and stops that are still to be carried out. */
  stateChangeRequests?: VirtualMachineStateChangeRequest[];
  /** Volumes that are still to be attached or detached. */
  volumeRequests?: VirtualMachineVolumeRequest[];
  /** Which volumes can be part of a snapshot. */
  volumeSnapshotStatuses?: VolumeSnapshotStatus[];
  /** Change of volumes that is under way. */
  volumeUpdateState?: VolumeUpdateState;
}

/** An instance that is yet to be made. */
export interface VirtualMachineInstanceTemplateSpec {
  /** Labels and annotations that it gets. */
  metadata?: ObjectMeta;
  /** What it is. */
  spec?: VirtualMachineInstanceSpec;
}

/** Starts that failed one after the other. */
export interface VirtualMachineStartFailure {
  /** How many. */
  consecutiveFailCount?: number;
  /** UID of the last instance that failed. */
  lastFailedVMIUID?: string;
  /** When the next start is tried. */
  retryAfterTimestamp?: string;
}

/** A start or stop that is still to be carried out. */
export interface VirtualMachineStateChangeRequest {
  /** What to do. */
  action: "Start" | "Stop" | (string & {});
  /** Details of it. */
  data?: Record<string, string>;
  /** UID of the instance to stop. */
  uid?: string;
}

/** A dump of the guest's memory into a claim. */
export interface VirtualMachineMemoryDumpRequest {
  /** Claim that receives it. */
  claimName: string;
  /** When it ended. */
  endTimestamp?: string;
  /** File in the claim. */
  fileName?: string;
  /** Why it failed. */
  message?: string;
  /** How far it is. */
  phase: string;
  /** Detach the claim. */
  remove?: boolean;
  /** When it began. */
  startTimestamp?: string;
}

/** A volume to attach or detach. One of its fields is set. */
export interface VirtualMachineVolumeRequest {
  /** Attach this one. */
  addVolumeOptions?: AddVolumeOptions;
  /** Detach this one. */
  removeVolumeOptions?: RemoveVolumeOptions;
}

/** A volume to attach to a running guest. */
export interface AddVolumeOptions {
  /** Name of the volume and its disk. */
  name: string;
  /** How the guest sees it. */
  disk: Disk;
  /** All to check the request only. */
  dryRun?: string[];
  /** What backs it. */
  volumeSource: HotplugVolumeSource;
}

/** A volume to detach from a running guest. */
export interface RemoveVolumeOptions {
  /** Name of the volume. */
  name: string;
  /** All to check the request only. */
  dryRun?: string[];
}

/** What backs a hotplugged volume. One of its fields is set. */
export interface HotplugVolumeSource {
  /** A DataVolume. */
  dataVolume?: DataVolumeSource;
  /** A claim. */
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
}

/** Whether a volume can be part of a snapshot. */
export interface VolumeSnapshotStatus {
  /** Name of the volume. */
  name: string;
  /** It can. */
  enabled: boolean;
  /** Why not. */
  reason?: string;
}

/** A change of volumes that is under way. */
export interface VolumeUpdateState {
  /** Volumes that are being copied. */
  volumeMigrationState?: VolumeMigrationState;
}

/** Volumes that are being copied to other claims. */
export interface VolumeMigrationState {
  /** The volumes. */
  migratedVolumes?: StorageMigratedVolumeInfo[];
}
