// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Whether changed blocks are tracked. */
export interface ChangedBlockTrackingStatus {
  /** Backup that is under way, or the latest. */
  backupStatus?: VirtualMachineInstanceBackupStatus;
  /** State of the tracking. */
  state: string;
}

/** A backup of a running guest. */
export interface VirtualMachineInstanceBackupStatus {
  /** What went wrong. */
  backupMsg?: string;
  /** Name of the backup. */
  backupName?: string;
  /** Checkpoint that the next backup starts from. */
  checkpointName?: string;
  /** It has ended, well or not. */
  completed?: boolean;
  /** When it ended. */
  endTimestamp?: string;
  /** It has failed. */
  failed?: boolean;
  /** Whether file systems stood still meanwhile. */
  quiesceStatus?: string;
  /** When it began. */
  startTimestamp?: string;
  /** Volumes that are part of it. */
  volumes?: VirtualMachineInstanceBackupVolumeInfo[];
}

/** A volume that is part of a backup. */
export interface VirtualMachineInstanceBackupVolumeInfo {
  /** Where the blocks are read. */
  dataEndpoint?: string;
  /** Device that the guest sees. */
  diskTarget?: string;
  /** Where the map of changed blocks is read. */
  mapEndpoint?: string;
  /** Name of the volume. */
  volumeName: string;
}
