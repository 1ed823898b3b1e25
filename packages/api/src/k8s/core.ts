import type { ResourceList } from "./container.ts";
import type { NodeSelector, Taint } from "./affinity.ts";
import type { Condition, KubeObject, ResourceType } from "./meta.ts";
import type { PersistentVolumeAccessMode, PersistentVolumeClaimSpec, PersistentVolumeMode } from "./volume.ts";

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: "Active" | "Terminating"; conditions?: Condition[] };
}

export interface NodeAddress {
  type: "Hostname" | "InternalIP" | "ExternalIP" | "InternalDNS" | "ExternalDNS";
  address: string;
}

export interface NodeSystemInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  containerRuntimeVersion: string;
  kubeletVersion: string;
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
}

export interface NodeStatus {
  capacity?: ResourceList;
  allocatable?: ResourceList;
  conditions?: Condition[];
  addresses?: NodeAddress[];
  nodeInfo?: NodeSystemInfo;
  daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
  images?: { names?: string[]; sizeBytes?: number }[];
}

export interface Node extends KubeObject {
  spec?: {
    podCIDR?: string;
    podCIDRs?: string[];
    providerID?: string;
    unschedulable?: boolean;
    taints?: Taint[];
  };
  status?: NodeStatus;
}

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

/** An event of the legacy core group, which kubectl and every KubeVirt client read. */
export interface Event extends KubeObject {
  involvedObject: ObjectReference;
  type?: "Normal" | "Warning";
  reason?: string;
  message?: string;
  source?: { component?: string; host?: string };
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  count?: number;
  action?: string;
  reportingComponent?: string;
  reportingInstance?: string;
  related?: ObjectReference;
  series?: { count?: number; lastObservedTime?: string };
}

export interface Secret extends KubeObject {
  type?: string;
  /** Base64 values. */
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  /** Base64 values. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

export interface ServiceAccount extends KubeObject {
  secrets?: ObjectReference[];
  imagePullSecrets?: { name?: string }[];
  automountServiceAccountToken?: boolean;
}

export interface ServicePort {
  name?: string;
  protocol?: "TCP" | "UDP" | "SCTP";
  appProtocol?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
}

export interface Service extends KubeObject {
  spec?: {
    type?: "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName";
    selector?: Record<string, string>;
    ports?: ServicePort[];
    clusterIP?: string;
    clusterIPs?: string[];
    ipFamilies?: string[];
    ipFamilyPolicy?: string;
    internalTrafficPolicy?: string;
    sessionAffinity?: string;
    externalName?: string;
    publishNotReadyAddresses?: boolean;
  };
  status?: { loadBalancer?: Record<string, unknown>; conditions?: Condition[] };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec?: PersistentVolumeClaimSpec;
  status?: {
    phase?: "Pending" | "Bound" | "Lost";
    accessModes?: PersistentVolumeAccessMode[];
    capacity?: ResourceList;
    conditions?: Condition[];
  };
}

export interface PersistentVolume extends KubeObject {
  spec?: {
    capacity?: ResourceList;
    accessModes?: PersistentVolumeAccessMode[];
    volumeMode?: PersistentVolumeMode;
    storageClassName?: string;
    persistentVolumeReclaimPolicy?: "Retain" | "Recycle" | "Delete";
    claimRef?: ObjectReference;
    hostPath?: { path: string; type?: string };
    local?: { path: string; fsType?: string };
    nodeAffinity?: { required?: NodeSelector };
    mountOptions?: string[];
  };
  status?: { phase?: "Pending" | "Available" | "Bound" | "Released" | "Failed"; message?: string; reason?: string };
}

const core = { group: "", version: "v1" } as const;

export const namespaces: ResourceType<Namespace> = {
  ...core,
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};
export const nodes: ResourceType<Node> = { ...core, kind: "Node", plural: "nodes", namespaced: false };
export const events: ResourceType<Event> = { ...core, kind: "Event", plural: "events", namespaced: true };
export const secrets: ResourceType<Secret> = { ...core, kind: "Secret", plural: "secrets", namespaced: true };
export const configMaps: ResourceType<ConfigMap> = {
  ...core,
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};
export const serviceAccounts: ResourceType<ServiceAccount> = {
  ...core,
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};
export const services: ResourceType<Service> = { ...core, kind: "Service", plural: "services", namespaced: true };
export const persistentVolumeClaims: ResourceType<PersistentVolumeClaim> = {
  ...core,
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
};
export const persistentVolumes: ResourceType<PersistentVolume> = {
  ...core,
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
};
