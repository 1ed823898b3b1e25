import type { LabelSelector } from "./meta.ts";

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

export interface ObjectFieldSelector {
  apiVersion?: string;
  fieldPath: string;
}

export interface ResourceFieldSelector {
  containerName?: string;
  resource: string;
  divisor?: string;
}

export interface DownwardAPIVolumeFile {
  path: string;
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  mode?: number;
}

export interface EmptyDirVolumeSource {
  medium?: "" | "Memory" | (string & {});
  sizeLimit?: string;
}

export interface HostPathVolumeSource {
  path: string;
  type?:
    | ""
    | "DirectoryOrCreate"
    | "Directory"
    | "FileOrCreate"
    | "File"
    | "Socket"
    | "CharDevice"
    | "BlockDevice"
    | (string & {});
}

export interface SecretVolumeSource {
  secretName?: string;
  items?: KeyToPath[];
  defaultMode?: number;
  optional?: boolean;
}

export interface ConfigMapVolumeSource {
  name?: string;
  items?: KeyToPath[];
  defaultMode?: number;
  optional?: boolean;
}

export interface DownwardAPIVolumeSource {
  items?: DownwardAPIVolumeFile[];
  defaultMode?: number;
}

export interface PersistentVolumeClaimVolumeSource {
  claimName: string;
  readOnly?: boolean;
}

/** A volume whose content is an OCI image (Kubernetes 1.33 and later). */
export interface ImageVolumeSource {
  reference?: string;
  pullPolicy?: ImagePullPolicy;
}

export type ImagePullPolicy = "Always" | "IfNotPresent" | "Never";

export interface ServiceAccountTokenProjection {
  audience?: string;
  expirationSeconds?: number;
  path: string;
}

export interface VolumeProjection {
  secret?: { name?: string; items?: KeyToPath[]; optional?: boolean };
  configMap?: { name?: string; items?: KeyToPath[]; optional?: boolean };
  downwardAPI?: { items?: DownwardAPIVolumeFile[] };
  serviceAccountToken?: ServiceAccountTokenProjection;
}

export interface ProjectedVolumeSource {
  sources?: VolumeProjection[];
  defaultMode?: number;
}

export interface Volume {
  name: string;
  emptyDir?: EmptyDirVolumeSource;
  hostPath?: HostPathVolumeSource;
  secret?: SecretVolumeSource;
  configMap?: ConfigMapVolumeSource;
  downwardAPI?: DownwardAPIVolumeSource;
  projected?: ProjectedVolumeSource;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  image?: ImageVolumeSource;
  ephemeral?: { volumeClaimTemplate?: { metadata?: Record<string, unknown>; spec: PersistentVolumeClaimSpec } };
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  subPath?: string;
  subPathExpr?: string;
  readOnly?: boolean;
  mountPropagation?: "None" | "HostToContainer" | "Bidirectional";
  recursiveReadOnly?: string;
}

export interface VolumeDevice {
  name: string;
  devicePath: string;
}

export type PersistentVolumeAccessMode = "ReadWriteOnce" | "ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOncePod";
export type PersistentVolumeMode = "Filesystem" | "Block";

export interface PersistentVolumeClaimSpec {
  accessModes?: PersistentVolumeAccessMode[];
  selector?: LabelSelector;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  volumeName?: string;
  storageClassName?: string;
  volumeMode?: PersistentVolumeMode;
  dataSource?: TypedLocalObjectReference;
  dataSourceRef?: TypedLocalObjectReference & { namespace?: string };
}

export interface TypedLocalObjectReference {
  apiGroup?: string;
  kind: string;
  name: string;
}
