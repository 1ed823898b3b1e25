// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Quantity } from "../wire-types.ts";

/** Volume status. */
export interface VolumeStatus {
  /** Name. */
  name: string;
  /** Container disk volume. */
  containerDiskVolume?: ContainerDiskInfo;
  /** Hotplug volume. */
  hotplugVolume?: HotplugVolumeStatus;
  /** Memory dump volume. */
  memoryDumpVolume?: DomainMemoryDumpInfo;
  /** Message. */
  message?: string;
  /** Persistent volume claim info. */
  persistentVolumeClaimInfo?: PersistentVolumeClaimInfo;
  /** Phase. */
  phase?: "Pending" | "Bound" | "HotplugVolumeAttachedToNode" | "HotplugVolumeMounted" | "Ready" | "HotplugVolumeDetaching" | "HotplugVolumeUnMountedFromNode" | "MemoryDumpVolumeInProgress" | "MemoryDumpVolumeCompleted" | "MemoryDumpVolumeFailed" | (string & {});
  /** Reason. */
  reason?: string;
  /** Size. */
  size?: number;
  /** Target. */
  target: string;
}

/** Container disk info. */
export interface ContainerDiskInfo {
  /** Checksum. */
  checksum?: number;
}

/** Hotplug volume status. */
export interface HotplugVolumeStatus {
  /** Attach pod name. */
  attachPodName?: string;
  /** Attach pod UID. */
  attachPodUID?: string;
}

/** Domain memory dump info. */
export interface DomainMemoryDumpInfo {
  /** Claim name. */
  claimName?: string;
  /** End timestamp. */
  endTimestamp?: string;
  /** Start timestamp. */
  startTimestamp?: string;
  /** Target file name. */
  targetFileName?: string;
}

/** Persistent volume claim info. */
export interface PersistentVolumeClaimInfo {
  /** Access modes. */
  accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod" | (string & {}))[];
  /** Capacity. */
  capacity?: Record<string, Quantity>;
  /** Claim name. */
  claimName?: string;
  /** Filesystem overhead. */
  filesystemOverhead?: string;
  /** Preallocated. */
  preallocated?: boolean;
  /** Requests. */
  requests?: Record<string, Quantity>;
  /** Volume mode. */
  volumeMode?: "Block" | "Filesystem" | "FromStorageProfile" | (string & {});
}
