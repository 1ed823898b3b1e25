// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Condition, KubeObject, ObjectMeta } from "../k8s/meta.ts";
import type { DataVolumeTemplateSpec } from "./data-volume.ts";
import type { Disk } from "./disk.ts";
import type { InstancetypeMatcher, InstancetypeStatusRef, PreferenceMatcher } from "./instancetype.ts";
import type { VirtualMachineInstanceSpec } from "./virtual-machine-instance.ts";
import type { PersistentVolumeClaimInfo } from "./volume-status.ts";
import type { DataVolumeSource, PersistentVolumeClaimVolumeSource } from "./volume.ts";

/** Virtual machine. */
export interface VirtualMachine extends KubeObject {
  /** Spec. */
  spec: VirtualMachineSpec;
  /** Status. */
  status?: VirtualMachineStatus;
}

/** Virtual machine spec. */
export interface VirtualMachineSpec {
  /** Data volume templates. */
  dataVolumeTemplates?: DataVolumeTemplateSpec[];
  /** Instancetype. */
  instancetype?: InstancetypeMatcher;
  /** Preference. */
  preference?: PreferenceMatcher;
  /** Run strategy. */
  runStrategy?: "Always" | "Halted" | "Manual" | "RerunOnFailure" | "Once" | "WaitAsReceiver" | (string & {});
  /** Running. */
  running?: boolean;
  /** Template. */
  template: VirtualMachineInstanceTemplateSpec;
  /** Update volumes strategy. */
  updateVolumesStrategy?: "Replacement" | "Migration" | (string & {});
}

/** Virtual machine status. */
export interface VirtualMachineStatus {
  /** Changed block tracking. */
  changedBlockTracking?: ChangedBlockTrackingStatus;
  /** Conditions. */
  conditions?: Condition[];
  /** Created. */
  created?: boolean;
  /** Desired generation. */
  desiredGeneration?: number;
  /** Instancetype ref. */
  instancetypeRef?: InstancetypeStatusRef;
  /** Memory dump request. */
  memoryDumpRequest?: VirtualMachineMemoryDumpRequest;
  /** Observed generation. */
  observedGeneration?: number;
  /** Preference ref. */
  preferenceRef?: InstancetypeStatusRef;
  /** Printable status. */
  printableStatus?: "Stopped" | "Provisioning" | "Starting" | "Running" | "Paused" | "Stopping" | "Terminating" | "CrashLoopBackOff" | "Migrating" | "Unknown" | "ErrorUnschedulable" | "ErrImagePull" | "ImagePullBackOff" | "ErrorPvcNotFound" | "DataVolumeError" | "WaitingForVolumeBinding" | "WaitingForReceiver";
  /** Ready. */
  ready?: boolean;
  /** Restore in progress. */
  restoreInProgress?: string;
  /** Run strategy. */
  runStrategy?: string;
  /** Snapshot in progress. */
  snapshotInProgress?: string;
  /** Start failure. */
  startFailure?: VirtualMachineStartFailure;
  /** State change requests. */
  stateChangeRequests?: VirtualMachineStateChangeRequest[];
  /** Volume requests. */
  volumeRequests?: VirtualMachineVolumeRequest[];
  /** Volume snapshot statuses. */
  volumeSnapshotStatuses?: VolumeSnapshotStatus[];
  /** Volume update state. */
  volumeUpdateState?: VolumeUpdateState;
}

/** Virtual machine instance template spec. */
export interface VirtualMachineInstanceTemplateSpec {
  /** Metadata. */
  metadata?: ObjectMeta;
  /** Spec. */
  spec?: VirtualMachineInstanceSpec;
}

/** Virtual machine start failure. */
export interface VirtualMachineStartFailure {
  /** Consecutive fail count. */
  consecutiveFailCount?: number;
  /** Last failed VMIUID. */
  lastFailedVMIUID?: string;
  /** Retry after timestamp. */
  retryAfterTimestamp?: string;
}

/** Virtual machine state change request. */
export interface VirtualMachineStateChangeRequest {
  /** Action. */
  action: "Start" | "Stop" | (string & {});
  /** Data. */
  data?: Record<string, string>;
  /** Uid. */
  uid?: string;
}

/** Virtual machine memory dump request. */
export interface VirtualMachineMemoryDumpRequest {
  /** Claim name. */
  claimName: string;
  /** End timestamp. */
  endTimestamp?: string;
  /** File name. */
  fileName?: string;
  /** Message. */
  message?: string;
  /** Phase. */
  phase: string;
  /** Remove. */
  remove?: boolean;
  /** Start timestamp. */
  startTimestamp?: string;
}

/** Virtual machine volume request. */
export interface VirtualMachineVolumeRequest {
  /** Add volume options. */
  addVolumeOptions?: AddVolumeOptions;
  /** Remove volume options. */
  removeVolumeOptions?: RemoveVolumeOptions;
}

/** Add volume options. */
export interface AddVolumeOptions {
  /** Name. */
  name: string;
  /** Disk. */
  disk: Disk;
  /** Dry run. */
  dryRun?: string[];
  /** Volume source. */
  volumeSource: HotplugVolumeSource;
}

/** Remove volume options. */
export interface RemoveVolumeOptions {
  /** Name. */
  name: string;
  /** Dry run. */
  dryRun?: string[];
}

/** Hotplug volume source. */
export interface HotplugVolumeSource {
  /** Data volume. */
  dataVolume?: DataVolumeSource;
  /** Persistent volume claim. */
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
}

/** Volume snapshot status. */
export interface VolumeSnapshotStatus {
  /** Name. */
  name: string;
  /** Enabled. */
  enabled: boolean;
  /** Reason. */
  reason?: string;
}

/** Volume update state. */
export interface VolumeUpdateState {
  /** Volume migration state. */
  volumeMigrationState?: VolumeMigrationState;
}

/** Volume migration state. */
export interface VolumeMigrationState {
  /** Migrated volumes. */
  migratedVolumes?: StorageMigratedVolumeInfo[];
}

/** Storage migrated volume info. */
export interface StorageMigratedVolumeInfo {
  /** Destination PVC info. */
  destinationPVCInfo?: PersistentVolumeClaimInfo;
  /** Source PVC info. */
  sourcePVCInfo?: PersistentVolumeClaimInfo;
  /** Volume name. */
  volumeName: string;
}

/** Changed block tracking status. */
export interface ChangedBlockTrackingStatus {
  /** Backup status. */
  backupStatus?: VirtualMachineInstanceBackupStatus;
  /** State. */
  state: string;
}

/** Virtual machine instance backup status. */
export interface VirtualMachineInstanceBackupStatus {
  /** Backup msg. */
  backupMsg?: string;
  /** Backup name. */
  backupName?: string;
  /** Checkpoint name. */
  checkpointName?: string;
  /** Completed. */
  completed?: boolean;
  /** End timestamp. */
  endTimestamp?: string;
  /** Failed. */
  failed?: boolean;
  /** Quiesce status. */
  quiesceStatus?: string;
  /** Start timestamp. */
  startTimestamp?: string;
  /** Volumes. */
  volumes?: VirtualMachineInstanceBackupVolumeInfo[];
}

/** Virtual machine instance backup volume info. */
export interface VirtualMachineInstanceBackupVolumeInfo {
  /** Data endpoint. */
  dataEndpoint?: string;
  /** Disk target. */
  diskTarget?: string;
  /** Map endpoint. */
  mapEndpoint?: string;
  /** Volume name. */
  volumeName: string;
}
