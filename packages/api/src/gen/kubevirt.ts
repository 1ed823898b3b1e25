// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Affinity, Toleration } from "../k8s/affinity.ts";
import type { Condition, KubeObject } from "../k8s/meta.ts";
import type { KubeVirtCertificateRotateStrategy } from "./certificate.ts";
import type { KubeVirtConfiguration } from "./kubevirt-configuration.ts";
import type { LocalObjectReference } from "./meta.ts";
import type { VirtHandlerPool } from "./virt-handler-pool.ts";

/** One installation: which roles run in this cluster and how they are configured. */
export interface KubeVirt extends KubeObject {
  /** What is installed, and how it behaves. */
  spec: KubeVirtSpec;
  /** What virt-operator has installed, and what keeps it from more. */
  status?: KubeVirtStatus;
}

/** What is installed, where it runs, and how it behaves. */
export interface KubeVirtSpec {
  /** How long the certificates between the roles live. */
  certificateRotateStrategy?: KubeVirtCertificateRotateStrategy;
  /** How machines are run; changing it does not restart the roles. */
  configuration?: KubeVirtConfiguration;
  /** Changes to the objects that virt-operator makes. */
  customizeComponents?: CustomizeComponents;
  /** When nodes fetch the images of the roles. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** Credentials for the registry of the images, in the namespace of this object. */
  imagePullSecrets?: LocalObjectReference[];
  /** Registry that images come from, when it is not the one virt-operator came from. */
  imageRegistry?: string;
  /** Version of the images, when it is not that of virt-operator. */
  imageTag?: string;
  /** Where virt-api and virt-controller run, and how often. */
  infra?: ComponentConfig;
  /** Service account that collects metrics. */
  monitorAccount?: string;
  /** Namespace of the monitoring installation. */
  monitorNamespace?: string;
  /** Value of the component label on everything that is installed. */
  productComponent?: string;
  /** Value of the part-of label on everything that is installed. */
  productName?: string;
  /** Value of the version label on everything that is installed. */
  productVersion?: string;
  /** Namespace for the objects that tell the monitoring what to collect. */
  serviceMonitorNamespace?: string;
  /** Port on which two clusters tell each other about a migration between them. */
  synchronizationPort?: string;
  /** What deleting this object does while there are machines. RemoveWorkloads when unset. */
  uninstallStrategy?: "RemoveWorkloads" | "BlockUninstallIfWorkloadsExist" | (string & {});
  /** Groups of nodes with images and a hypervisor of their own, in order of preference. */
  virtHandlerPools?: VirtHandlerPool[];
  /** How running machines get to a new launcher after an update. */
  workloadUpdateStrategy?: KubeVirtWorkloadUpdateStrategy;
  /** Which nodes run virt-handler, and so machines. */
  workloads?: ComponentConfig;
}

/** What virt-operator has done about the installation. */
export interface KubeVirtStatus {
  /** Available, Progressing, Degraded and Created, each with its reason. */
  conditions?: Condition[];
  /** Architecture of guests that name none. */
  defaultArchitecture?: string;
  /** The workloads as they were last written, to notice changes by others. */
  generations?: GenerationStatus[];
  /** The settings that the installed roles were made from. */
  observedDeploymentConfig?: string;
  /** Fingerprint of the settings that are installed. */
  observedDeploymentID?: string;
  /** The generation of this object that the status is about. */
  observedGeneration?: number;
  /** Registry of the installed images. */
  observedKubeVirtRegistry?: string;
  /** Version that is installed. */
  observedKubeVirtVersion?: string;
  /** Version of virt-operator. */
  operatorVersion?: string;
  /** How many running machines still have a launcher of an earlier version. */
  outdatedVirtualMachineInstanceWorkloads?: number;
  /** How far the installation is. */
  phase?: "Deploying" | "Deployed" | "Deleting" | "Deleted";
  /** Where other clusters reach this one for migrations. */
  synchronizationAddresses?: string[];
  /** The settings that are being installed. */
  targetDeploymentConfig?: string;
  /** Fingerprint of the settings that are being installed. */
  targetDeploymentID?: string;
  /** Registry of the images that are being installed. */
  targetKubeVirtRegistry?: string;
  /** Version that is being installed. */
  targetKubeVirtVersion?: string;
}

/** A workload as virt-operator last wrote it. */
export interface GenerationStatus {
  /** Name of the object. */
  name: string;
  /** API group of the object. */
  group: string;
  /** Fingerprint of what was written. */
  hash?: string;
  /** Generation that the write led to. */
  lastGeneration: number;
  /** Namespace of the object. */
  namespace?: string;
  /** Resource of the object, for example deployments. */
  resource: string;
}

/** How machines that run on an old launcher are moved to the new one. */
export interface KubeVirtWorkloadUpdateStrategy {
  /** Pause between two groups of evictions. */
  batchEvictionInterval?: string;
  /** How many machines are evicted at a time. */
  batchEvictionSize?: number;
  /** Ways that may be used, the least disruptive first. None means that machines stay as they are until they are restarted. */
  workloadUpdateMethods?: ("LiveMigrate" | "Evict" | (string & {}))[];
}

/** How a group of roles is placed. */
export interface ComponentConfig {
  /** Which nodes may run them. */
  nodePlacement?: NodePlacement;
  /** How many pods of each role run. */
  replicas?: number;
}

/** Which nodes pods may run on. */
export interface NodePlacement {
  /** Rules about nodes and about other pods there. */
  affinity?: Affinity;
  /** Labels that the node must have. */
  nodeSelector?: Record<string, string>;
  /** Taints that the pods accept. */
  tolerations?: Toleration[];
}

/** Changes to the objects that virt-operator makes, after it has made them. */
export interface CustomizeComponents {
  /** Command line flags of the roles. */
  flags?: Flags;
  /** Patches of single objects. */
  patches?: CustomizeComponentsPatch[];
}

/** Extra command line flags by role. */
export interface Flags {
  /** Flags of virt-api. */
  api?: Record<string, string>;
  /** Flags of virt-controller. */
  controller?: Record<string, string>;
  /** Flags of virt-handler. */
  handler?: Record<string, string>;
}

/** A patch of the objects of one kind. */
export interface CustomizeComponentsPatch {
  /** The patch, as JSON text. */
  patch: string;
  /** Name of the object, or * for all. */
  resourceName: string;
  /** Kind of the object. */
  resourceType: string;
  /** Form of the patch. */
  type: "json" | "merge" | "strategic" | (string & {});
}
