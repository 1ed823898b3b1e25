// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Quantity } from "../wire-types.ts";

/** State of a volume. */
export interface VolumeStatus {
  /** Name of the volume. */
  name: string;
  /** The container disk. */
  containerDiskVolume?: ContainerDiskInfo;
  /** The pod that holds a hotplugged volume. */
  hotplugVolume?: HotplugVolumeStatus;
  /** The memory dump. */
  memoryDumpVolume?: DomainMemoryDumpInfo;
  /** More about the phase. */
  message?: string;
  /** The claim. */
  persistentVolumeClaimInfo?: PersistentVolumeClaimInfo;
  /** How far it is. */
  phase?: "Pending" | "Bound" | "AttachedToNode" | "MountedToPod" | "Ready" | "Detaching" | "UnMountedFromPod" | "MemoryDumpInProgress" | "MemoryDumpCompleted" | "MemoryDumpFailed" | (string & {});
  /** Why it is in this phase, in one word. */
  reason?: string;
  /** Size in bytes. */
  size?: number;
  /** Device that the guest sees, for example vda. */
  target: string;
}

/** A container disk that is in use. */
export interface ContainerDiskInfo {
  /** CRC-32 of the disk image. */
  checksum?: number;
}

/** The pod that holds a hotplugged volume. */
export interface HotplugVolumeStatus {
  /** Its name. */
  attachPodName?: string;
  /** Its UID. */
  attachPodUID?: string;
}

/** A dump of a guest's memory. */
export interface DomainMemoryDumpInfo {
  /** Claim that it is in. */
  claimName?: string;
  /** When it ended. */
  endTimestamp?: string;
  /** When it began. */
  startTimestamp?: string;
  /** File in the claim. */
  targetFileName?: string;
}

/** What is known about a claim. */
export interface PersistentVolumeClaimInfo {
  /** How nodes may mount it. */
  accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod" | (string & {}))[];
  /** Its size. */
  capacity?: Record<string, Quantity>;
  /** Its name. */
  claimName?: string;
  /** Share of it that its file system takes. */
  filesystemOverhead?: string;
  /** All space was taken at once. */
  preallocated?: boolean;
  /** Size that was asked for. */
  requests?: Record<string, Quantity>;
  /** Block device or file system. */
  volumeMode?: "Block" | "Filesystem" | "FromStorageProfile" | (string & {});
}

/** A volume that is being copied to another claim. */
export interface StorageMigratedVolumeInfo {
  /** Claim that it goes to. */
  destinationPVCInfo?: PersistentVolumeClaimInfo;
  /** Claim that it comes from. */
  sourcePVCInfo?: PersistentVolumeClaimInfo;
  /** Name of the volume. */
  volumeName: string;
}
