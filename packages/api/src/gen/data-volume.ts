// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { LabelSelector, ObjectMeta } from "../k8s/meta.ts";
import type { Quantity } from "../wire-types.ts";

/** A DataVolume that is made for a machine. */
export interface DataVolumeTemplateSpec {
  /** Ignored. */
  apiVersion?: string;
  /** Ignored. */
  kind?: string;
  /** Name, labels and annotations of the DataVolume. */
  metadata?: ObjectMeta;
  /** What the DataVolume contains. */
  spec: DataVolumeSpec;
  /** Ignored. */
  status?: DataVolumeTemplateDummyStatus;
}

/** A claim and what is written into it. */
export interface DataVolumeSpec {
  /** Steps of an import that is done in several. */
  checkpoints?: DataVolumeCheckpoint[];
  /** kubevirt for a disk image, archive for files. */
  contentType?: string;
  /** The last checkpoint is the end of the import. */
  finalCheckpoint?: boolean;
  /** Take all space at once. */
  preallocation?: boolean;
  /** Priority of the pods that write into it. */
  priorityClassName?: string;
  /** The claim. */
  pvc?: PersistentVolumeClaimSpec;
  /** Where the content comes from. */
  source?: CdiDataVolumeSource;
  /** An object that says where the content comes from. */
  sourceRef?: DataVolumeSourceRef;
  /** The claim, completed from what is known about the storage class. */
  storage?: StorageSpec;
}

/** A step of an import. */
export interface DataVolumeCheckpoint {
  /** Snapshot of this step. */
  current: string;
  /** Snapshot of the step before. */
  previous: string;
}

/** A claim of storage. */
export interface PersistentVolumeClaimSpec {
  /** How nodes may mount it. */
  accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod" | (string & {}))[];
  /** What it is filled from. */
  dataSource?: TypedLocalObjectReference;
  /** What it is filled from, of any kind. */
  dataSourceRef?: TypedObjectReference;
  /** How large it is. */
  resources?: VolumeResourceRequirements;
  /** Labels of the volume that it binds to. */
  selector?: LabelSelector;
  /** Class of the storage. */
  storageClassName?: string;
  /** Attributes of the volume that can change later. */
  volumeAttributesClassName?: string;
  /** Block device or file system. */
  volumeMode?: "Block" | "Filesystem" | "FromStorageProfile" | (string & {});
  /** Volume that it is bound to. */
  volumeName?: string;
}

/** An object in the same namespace. */
export interface TypedLocalObjectReference {
  /** Its name. */
  name: string;
  /** Its API group. */
  apiGroup?: string;
  /** Its kind. */
  kind: string;
}

/** An object. */
export interface TypedObjectReference {
  /** Its name. */
  name: string;
  /** Its API group. */
  apiGroup?: string;
  /** Its kind. */
  kind: string;
  /** Its namespace. */
  namespace?: string;
}

/** Size of a claim. */
export interface VolumeResourceRequirements {
  /** The most it may be. */
  limits?: Record<string, Quantity>;
  /** The least it must be. */
  requests?: Record<string, Quantity>;
}

/** Where the content of a DataVolume comes from. One of its fields is set. */
export interface CdiDataVolumeSource {
  /** Nowhere: an empty disk. */
  blank?: DataVolumeBlankImage;
  /** Google Cloud Storage. */
  gcs?: DataVolumeSourceGCS;
  /** A web server. */
  http?: DataVolumeSourceHTTP;
  /** An oVirt image server. */
  imageio?: DataVolumeSourceImageIO;
  /** Another claim. */
  pvc?: DataVolumeSourcePVC;
  /** A container registry. */
  registry?: DataVolumeSourceRegistry;
  /** S3 storage. */
  s3?: DataVolumeSourceS3;
  /** A volume snapshot. */
  snapshot?: DataVolumeSourceSnapshot;
  /** An upload by a user. */
  upload?: DataVolumeSourceUpload;
  /** A VMware server. */
  vddk?: DataVolumeSourceVDDK;
}

/** Present for an empty disk. */
export type DataVolumeBlankImage = Record<string, never>;

/** An object in Google Cloud Storage. */
export interface DataVolumeSourceGCS {
  /** Secret with the credentials. */
  secretRef?: string;
  /** Address of the object. */
  url: string;
}

/** A file on a web server. */
export interface DataVolumeSourceHTTP {
  /** ConfigMap with authorities to trust. */
  certConfigMap?: string;
  /** Headers of the request. */
  extraHeaders?: string[];
  /** Secrets with further headers. */
  secretExtraHeaders?: string[];
  /** Secret with user name and password. */
  secretRef?: string;
  /** Address of the file. */
  url: string;
}

/** A disk on an oVirt image server. */
export interface DataVolumeSourceImageIO {
  /** ConfigMap with authorities to trust. */
  certConfigMap?: string;
  /** The disk. */
  diskId: string;
  /** Do not check the server's certificate. */
  insecureSkipVerify?: boolean;
  /** Secret with user name and password. */
  secretRef?: string;
  /** Address of the server. */
  url: string;
}

/** Another claim. */
export interface DataVolumeSourcePVC {
  /** Its name. */
  name: string;
  /** Its namespace. */
  namespace: string;
}

/** An image in a container registry. */
export interface DataVolumeSourceRegistry {
  /** ConfigMap with authorities to trust. */
  certConfigMap?: string;
  /** Image stream instead of an address. */
  imageStream?: string;
  /** Which platform of the image. */
  platform?: PlatformOptions;
  /** Who pulls it: pod or node. */
  pullMethod?: string;
  /** Secret with the credentials. */
  secretRef?: string;
  /** Address of the image. */
  url?: string;
}

/** Platform of an image. */
export interface PlatformOptions {
  /** Its architecture. */
  architecture?: string;
}

/** An object in S3 storage. */
export interface DataVolumeSourceS3 {
  /** ConfigMap with authorities to trust. */
  certConfigMap?: string;
  /** Secret with the keys. */
  secretRef?: string;
  /** Address of the object. */
  url: string;
}

/** A volume snapshot. */
export interface DataVolumeSourceSnapshot {
  /** Its name. */
  name: string;
  /** Its namespace. */
  namespace: string;
}

/** Present for an upload by a user. */
export type DataVolumeSourceUpload = Record<string, never>;

/** A disk on a VMware server. */
export interface DataVolumeSourceVDDK {
  /** The disk. */
  backingFile?: string;
  /** ConfigMap with further settings. */
  extraArgs?: string;
  /** Image with the VDDK library. */
  initImageURL?: string;
  /** Secret with user name and password. */
  secretRef?: string;
  /** Fingerprint of the server's certificate. */
  thumbprint?: string;
  /** Address of the server. */
  url?: string;
  /** The virtual machine. */
  uuid?: string;
}

/** An object that says where content comes from. */
export interface DataVolumeSourceRef {
  /** Its name. */
  name: string;
  /** Its kind. */
  kind: string;
  /** Its namespace. */
  namespace?: string;
}

/** A claim, completed from what is known about the storage class. */
export interface StorageSpec {
  /** How nodes may mount it. */
  accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod" | (string & {}))[];
  /** What it is filled from. */
  dataSource?: TypedLocalObjectReference;
  /** What it is filled from, of any kind. */
  dataSourceRef?: TypedObjectReference;
  /** How large it is. */
  resources?: VolumeResourceRequirements;
  /** Labels of the volume that it binds to. */
  selector?: LabelSelector;
  /** Class of the storage. */
  storageClassName?: string;
  /** Block device or file system. */
  volumeMode?: "Block" | "Filesystem" | "FromStorageProfile" | (string & {});
  /** Volume that it is bound to. */
  volumeName?: string;
}

/** Accepted for older clients and ignored. */
export type DataVolumeTemplateDummyStatus = Record<string, never>;
