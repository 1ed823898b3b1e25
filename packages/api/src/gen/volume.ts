// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { DownwardAPIVolumeFile } from "../k8s/volume.ts";
import type { Quantity } from "../wire-types.ts";
import type { LocalObjectReference } from "./meta.ts";

/** What backs a disk or file system. One field besides the name is set. */
export interface Volume {
  /** Name by which disk or file system refer to it. */
  name: string;
  /** Data for cloud-init, as a config drive. */
  cloudInitConfigDrive?: CloudInitConfigDriveSource;
  /** Data for cloud-init, as a NoCloud disk. */
  cloudInitNoCloud?: CloudInitNoCloudSource;
  /** Files of a ConfigMap. */
  configMap?: ConfigMapVolumeSource;
  /** Disk image in a container image; changes are lost with the guest. */
  containerDisk?: ContainerDiskSource;
  /** Folder of the launcher's container. */
  containerPath?: ContainerPathVolumeSource;
  /** A DataVolume. */
  dataVolume?: DataVolumeSource;
  /** Files with fields of the machine's pod. */
  downwardAPI?: DownwardAPIVolumeSource;
  /** Metrics of the node. */
  downwardMetrics?: DownwardMetricsVolumeSource;
  /** An empty disk that goes with the guest. */
  emptyDisk?: EmptyDiskSource;
  /** A claim that is read; changes are lost with the guest. */
  ephemeral?: EphemeralVolumeSource;
  /** A disk image on the node. */
  hostDisk?: HostDisk;
  /** Claim that a dump of the guest's memory is written to. */
  memoryDump?: MemoryDumpVolumeSource;
  /** A claim. */
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  /** Files of a Secret. */
  secret?: SecretVolumeSource;
  /** Token of a service account. */
  serviceAccount?: ServiceAccountVolumeSource;
  /** Answer files for the setup of Windows. */
  sysprep?: SysprepSource;
}

/** Data for cloud-init. */
export interface CloudInitConfigDriveSource {
  /** Network configuration, as text. */
  networkData?: string;
  /** Network configuration, in base64. */
  networkDataBase64?: string;
  /** Secret with the network configuration. */
  networkDataSecretRef?: LocalObjectReference;
  /** Secret with the user data. */
  secretRef?: LocalObjectReference;
  /** User data, as text. */
  userData?: string;
  /** User data, in base64. */
  userDataBase64?: string;
}

/** Data for cloud-init. */
export interface CloudInitNoCloudSource {
  /** Network configuration, as text. */
  networkData?: string;
  /** Network configuration, in base64. */
  networkDataBase64?: string;
  /** Secret with the network configuration. */
  networkDataSecretRef?: LocalObjectReference;
  /** Secret with the user data. */
  secretRef?: LocalObjectReference;
  /** User data, as text. */
  userData?: string;
  /** User data, in base64. */
  userDataBase64?: string;
}

/** Files of a ConfigMap. */
export interface ConfigMapVolumeSource {
  /** The ConfigMap. */
  name?: string;
  /** It may be missing. */
  optional?: boolean;
  /** Label of the disk. */
  volumeLabel?: string;
}

/** Disk image in a container image. */
export interface ContainerDiskSource {
  /** The container image. */
  image: string;
  /** When nodes fetch it. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** Secret with the credentials of the registry. */
  imagePullSecret?: string;
  /** Path of the disk image; the one file in /disk when unset. */
  path?: string;
}

/** Folder of the launcher's container. */
export interface ContainerPathVolumeSource {
  /** The folder. */
  path: string;
  /** The guest cannot write to it. */
  readOnly?: boolean;
}

/** A DataVolume. */
export interface DataVolumeSource {
  /** Its name. */
  name: string;
  /** It may be detached while the guest runs. */
  hotpluggable?: boolean;
}

/** Files with fields of the machine's pod. */
export interface DownwardAPIVolumeSource {
  /** The files. */
  fields?: DownwardAPIVolumeFile[];
  /** Label of the disk. */
  volumeLabel?: string;
}

/** Present to show metrics of the node. */
export type DownwardMetricsVolumeSource = Record<string, never>;

/** An empty disk that goes with the guest. */
export interface EmptyDiskSource {
  /** Its size. */
  capacity: Quantity;
}

/** A claim that is read; changes are lost with the guest. */
export interface EphemeralVolumeSource {
  /** The claim. */
  persistentVolumeClaim?: ClaimVolumeSource;
}

/** A claim. */
export interface ClaimVolumeSource {
  /** Its name. */
  claimName: string;
  /** It is not written to. */
  readOnly?: boolean;
}

/** A disk image on the node. */
export interface HostDisk {
  /** Its size, when it is made. */
  capacity?: Quantity;
  /** Its path. */
  path: string;
  /** Several guests may write to it at a time. */
  shared?: boolean;
  /** Whether it is made when it is missing. */
  type: "Disk" | "DiskOrCreate" | (string & {});
}

/** Claim that a dump of the guest's memory is written to. */
export interface MemoryDumpVolumeSource {
  /** Its name. */
  claimName: string;
  /** It may be detached while the guest runs. */
  hotpluggable?: boolean;
  /** It is not written to. */
  readOnly?: boolean;
}

/** A claim. */
export interface PersistentVolumeClaimVolumeSource {
  /** Its name. */
  claimName: string;
  /** It may be detached while the guest runs. */
  hotpluggable?: boolean;
  /** The guest cannot write to it. */
  readOnly?: boolean;
}

/** Files of a Secret. */
export interface SecretVolumeSource {
  /** It may be missing. */
  optional?: boolean;
  /** The Secret. */
  secretName?: string;
  /** Label of the disk. */
  volumeLabel?: string;
}

/** Token of a service account. */
export interface ServiceAccountVolumeSource {
  /** The service account. */
  serviceAccountName?: string;
}

/** Answer files for the setup of Windows. One of its fields is set. */
export interface SysprepSource {
  /** ConfigMap with the files. */
  configMap?: LocalObjectReference;
  /** Secret with the files. */
  secret?: LocalObjectReference;
}

/** A claim for tasks of ours that the guest does not see. */
export interface UtilityVolume {
  /** Name of the volume. */
  name: string;
  /** The claim. */
  claimName: string;
  /** It is not written to. */
  readOnly?: boolean;
  /** What it is for: MemoryDump or Backup. */
  type?: string;
}
