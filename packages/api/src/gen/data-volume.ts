// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { LabelSelector, ObjectMeta } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";

/** Data volume template spec. */
export interface DataVolumeTemplateSpec {
  /** Api version. */
  apiVersion?: string;
  /** Kind. */
  kind?: string;
  /** Metadata. */
  metadata?: ObjectMeta;
  /** Spec. */
  spec: DataVolumeSpec;
  /** Status. */
  status?: DataVolumeTemplateDummyStatus;
}

/** Data volume spec. */
export interface DataVolumeSpec {
  /** Checkpoints. */
  checkpoints?: DataVolumeCheckpoint[];
  /** Content type. */
  contentType?: string;
  /** Final checkpoint. */
  finalCheckpoint?: boolean;
  /** Preallocation. */
  preallocation?: boolean;
  /** Priority class name. */
  priorityClassName?: string;
  /** Pvc. */
  pvc?: PersistentVolumeClaimSpec;
  /** Source. */
  source?: CdiDataVolumeSource;
  /** Source ref. */
  sourceRef?: DataVolumeSourceRef;
  /** Storage. */
  storage?: StorageSpec;
}

/** Data volume checkpoint. */
export interface DataVolumeCheckpoint {
  /** Current. */
  current: string;
  /** Previous. */
  previous: string;
}

/** Persistent volume claim spec. */
export interface PersistentVolumeClaimSpec {
  /** Access modes. */
  accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod" | (string & {}))[];
  /** Data source. */
  dataSource?: TypedLocalObjectReference;
  /** Data source ref. */
  dataSourceRef?: TypedObjectReference;
  /** Resources. */
  resources?: VolumeResourceRequirements;
  /** Selector. */
  selector?: LabelSelector;
  /** Storage class name. */
  storageClassName?: string;
  /** Volume attributes class name. */
  volumeAttributesClassName?: string;
  /** Volume mode. */
  volumeMode?: "Block" | "Filesystem" | "FromStorageProfile" | (string & {});
  /** Volume name. */
  volumeName?: string;
}

/** Typed local object reference. */
export interface TypedLocalObjectReference {
  /** Name. */
  name: string;
  /** Api group. */
  apiGroup?: string;
  /** Kind. */
  kind: string;
}

/** Typed object reference. */
export interface TypedObjectReference {
  /** Name. */
  name: string;
  /** Api group. */
  apiGroup?: string;
  /** Kind. */
  kind: string;
  /** Namespace. */
  namespace?: string;
}

/** Volume resource requirements. */
export interface VolumeResourceRequirements {
  /** Limits. */
  limits?: Record<string, Quantity>;
  /** Requests. */
  requests?: Record<string, Quantity>;
}

/** Cdi data volume source. */
export interface CdiDataVolumeSource {
  /** Blank. */
  blank?: DataVolumeBlankImage;
  /** Gcs. */
  gcs?: DataVolumeSourceGCS;
  /** Http. */
  http?: DataVolumeSourceHTTP;
  /** Imageio. */
  imageio?: DataVolumeSourceImageIO;
  /** Pvc. */
  pvc?: DataVolumeSourcePVC;
  /** Registry. */
  registry?: DataVolumeSourceRegistry;
  /** S3. */
  s3?: DataVolumeSourceS3;
  /** Snapshot. */
  snapshot?: DataVolumeSourceSnapshot;
  /** Upload. */
  upload?: DataVolumeSourceUpload;
  /** Vddk. */
  vddk?: DataVolumeSourceVDDK;
}

/** Data volume blank image. */
export type DataVolumeBlankImage = Record<string, never>;

/** Data volume source GCS. */
export interface DataVolumeSourceGCS {
  /** Secret ref. */
  secretRef?: string;
  /** Url. */
  url: string;
}

/** Data volume source HTTP. */
export interface DataVolumeSourceHTTP {
  /** Cert config map. */
  certConfigMap?: string;
  /** Extra headers. */
  extraHeaders?: string[];
  /** Secret extra headers. */
  secretExtraHeaders?: string[];
  /** Secret ref. */
  secretRef?: string;
  /** Url. */
  url: string;
}

/** Data volume source image IO. */
export interface DataVolumeSourceImageIO {
  /** Cert config map. */
  certConfigMap?: string;
  /** Disk id. */
  diskId: string;
  /** Insecure skip verify. */
  insecureSkipVerify?: boolean;
  /** Secret ref. */
  secretRef?: string;
  /** Url. */
  url: string;
}

/** Data volume source PVC. */
export interface DataVolumeSourcePVC {
  /** Name. */
  name: string;
  /** Namespace. */
  namespace: string;
}

/** Data volume source registry. */
export interface DataVolumeSourceRegistry {
  /** Cert config map. */
  certConfigMap?: string;
  /** Image stream. */
  imageStream?: string;
  /** Platform. */
  platform?: PlatformOptions;
  /** Pull method. */
  pullMethod?: string;
  /** Secret ref. */
  secretRef?: string;
  /** Url. */
  url?: string;
}

/** Platform options. */
export interface PlatformOptions {
  /** Architecture. */
  architecture?: string;
}

/** Data volume source S3. */
export interface DataVolumeSourceS3 {
  /** Cert config map. */
  certConfigMap?: string;
  /** Secret ref. */
  secretRef?: string;
  /** Url. */
  url: string;
}

/** Data volume source snapshot. */
export interface DataVolumeSourceSnapshot {
  /** Name. */
  name: string;
  /** Namespace. */
  namespace: string;
}

/** Data volume source upload. */
export type DataVolumeSourceUpload = Record<string, never>;

/** Data volume source VDDK. */
export interface DataVolumeSourceVDDK {
  /** Backing file. */
  backingFile?: string;
  /** Extra args. */
  extraArgs?: string;
  /** Init image URL. */
  initImageURL?: string;
  /** Secret ref. */
  secretRef?: string;
  /** Thumbprint. */
  thumbprint?: string;
  /** Url. */
  url?: string;
  /** Uuid. */
  uuid?: string;
}

/** Data volume source ref. */
export interface DataVolumeSourceRef {
  /** Name. */
  name: string;
  /** Kind. */
  kind: string;
  /** Namespace. */
  namespace?: string;
}

/** Storage spec. */
export interface StorageSpec {
  /** Access modes. */
  accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod" | (string & {}))[];
  /** Data source. */
  dataSource?: TypedLocalObjectReference;
  /** Data source ref. */
  dataSourceRef?: TypedObjectReference;
  /** Resources. */
  resources?: VolumeResourceRequirements;
  /** Selector. */
  selector?: LabelSelector;
  /** Storage class name. */
  storageClassName?: string;
  /** Volume mode. */
  volumeMode?: "Block" | "Filesystem" | "FromStorageProfile" | (string & {});
  /** Volume name. */
  volumeName?: string;
}

/** Data volume template dummy status. */
export type DataVolumeTemplateDummyStatus = Record<string, never>;
