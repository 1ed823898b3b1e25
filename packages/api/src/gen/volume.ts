// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { DownwardAPIVolumeFile } from "../k8s/volume.ts";
import type { Quantity } from "../wire-types.ts";
import type { LocalObjectReference } from "./meta.ts";

/** Volume. */
export interface Volume {
  /** Name. */
  name: string;
  /** Cloud init config drive. */
  cloudInitConfigDrive?: CloudInitConfigDriveSource;
  /** Cloud init no cloud. */
  cloudInitNoCloud?: CloudInitNoCloudSource;
  /** Config map. */
  configMap?: ConfigMapVolumeSource;
  /** Container disk. */
  containerDisk?: ContainerDiskSource;
  /** Container path. */
  containerPath?: ContainerPathVolumeSource;
  /** Data volume. */
  dataVolume?: DataVolumeSource;
  /** Downward API. */
  downwardAPI?: DownwardAPIVolumeSource;
  /** Downward metrics. */
  downwardMetrics?: DownwardMetricsVolumeSource;
  /** Empty disk. */
  emptyDisk?: EmptyDiskSource;
  /** Ephemeral. */
  ephemeral?: EphemeralVolumeSource;
  /** Host disk. */
  hostDisk?: HostDisk;
  /** Memory dump. */
  memoryDump?: MemoryDumpVolumeSource;
  /** Persistent volume claim. */
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  /** Secret. */
  secret?: SecretVolumeSource;
  /** Service account. */
  serviceAccount?: ServiceAccountVolumeSource;
  /** Sysprep. */
  sysprep?: SysprepSource;
}

/** Cloud init config drive source. */
export interface CloudInitConfigDriveSource {
  /** Network data. */
  networkData?: string;
  /** Network data base64. */
  networkDataBase64?: string;
  /** Network data secret ref. */
  networkDataSecretRef?: LocalObjectReference;
  /** Secret ref. */
  secretRef?: LocalObjectReference;
  /** User data. */
  userData?: string;
  /** User data base64. */
  userDataBase64?: string;
}

/** Cloud init no cloud source. */
export interface CloudInitNoCloudSource {
  /** Network data. */
  networkData?: string;
  /** Network data base64. */
  networkDataBase64?: string;
  /** Network data secret ref. */
  networkDataSecretRef?: LocalObjectReference;
  /** Secret ref. */
  secretRef?: LocalObjectReference;
  /** User data. */
  userData?: string;
  /** User data base64. */
  userDataBase64?: string;
}

/** Config map volume source. */
export interface ConfigMapVolumeSource {
  /** Name. */
  name?: string;
  /** Optional. */
  optional?: boolean;
  /** Volume label. */
  volumeLabel?: string;
}

/** Container disk source. */
export interface ContainerDiskSource {
  /** Image. */
  image: string;
  /** Image pull policy. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** Image pull secret. */
  imagePullSecret?: string;
  /** Path. */
  path?: string;
}

/** Container path volume source. */
export interface ContainerPathVolumeSource {
  /** Path. */
  path: string;
  /** Read only. */
  readOnly?: boolean;
}

/** Data volume source. */
export interface DataVolumeSource {
  /** Name. */
  name: string;
  /** Hotpluggable. */
  hotpluggable?: boolean;
}

/** Downward API volume source. */
export interface DownwardAPIVolumeSource {
  /** Fields. */
  fields?: DownwardAPIVolumeFile[];
  /** Volume label. */
  volumeLabel?: string;
}

/** Downward metrics volume source. */
export type DownwardMetricsVolumeSource = Record<string, never>;

/** Empty disk source. */
export interface EmptyDiskSource {
  /** Capacity. */
  capacity: Quantity;
}

/** Ephemeral volume source. */
export interface EphemeralVolumeSource {
  /** Persistent volume claim. */
  persistentVolumeClaim?: ClaimVolumeSource;
}

/** Claim volume source. */
export interface ClaimVolumeSource {
  /** Claim name. */
  claimName: string;
  /** Read only. */
  readOnly?: boolean;
}

/** Host disk. */
export interface HostDisk {
  /** Capacity. */
  capacity?: Quantity;
  /** Path. */
  path: string;
  /** Shared. */
  shared?: boolean;
  /** Type. */
  type: "Disk" | "DiskOrCreate" | (string & {});
}

/** Memory dump volume source. */
export interface MemoryDumpVolumeSource {
  /** Claim name. */
  claimName: string;
  /** Hotpluggable. */
  hotpluggable?: boolean;
  /** Read only. */
  readOnly?: boolean;
}

/** Persistent volume claim volume source. */
export interface PersistentVolumeClaimVolumeSource {
  /** Claim name. */
  claimName: string;
  /** Hotpluggable. */
  hotpluggable?: boolean;
  /** Read only. */
  readOnly?: boolean;
}

/** Secret volume source. */
export interface SecretVolumeSource {
  /** Optional. */
  optional?: boolean;
  /** Secret name. */
  secretName?: string;
  /** Volume label. */
  volumeLabel?: string;
}

/** Service account volume source. */
export interface ServiceAccountVolumeSource {
  /** Service account name. */
  serviceAccountName?: string;
}

/** Sysprep source. */
export interface SysprepSource {
  /** Config map. */
  configMap?: LocalObjectReference;
  /** Secret. */
  secret?: LocalObjectReference;
}

/** Utility volume. */
export interface UtilityVolume {
  /** Name. */
  name: string;
  /** Claim name. */
  claimName: string;
  /** Read only. */
  readOnly?: boolean;
  /** Type. */
  type?: string;
}
