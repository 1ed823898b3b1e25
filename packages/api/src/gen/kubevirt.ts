// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Affinity, Toleration } from "../k8s/affinity.ts";
import type { Condition, KubeObject } from "../k8s/meta.ts";
import type { KubeVirtCertificateRotateStrategy } from "./certificate.ts";
import type { KubeVirtConfiguration } from "./kubevirt-configuration.ts";
import type { LocalObjectReference } from "./meta.ts";
import type { VirtHandlerPool } from "./virt-handler-pool.ts";

/** Kube virt. */
export interface KubeVirt extends KubeObject {
  /** Spec. */
  spec: KubeVirtSpec;
  /** Status. */
  status?: KubeVirtStatus;
}

/** Kube virt spec. */
export interface KubeVirtSpec {
  /** Certificate rotate strategy. */
  certificateRotateStrategy?: KubeVirtCertificateRotateStrategy;
  /** Configuration. */
  configuration?: KubeVirtConfiguration;
  /** Customize components. */
  customizeComponents?: CustomizeComponents;
  /** Image pull policy. */
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | (string & {});
  /** Image pull secrets. */
  imagePullSecrets?: LocalObjectReference[];
  /** Image registry. */
  imageRegistry?: string;
  /** Image tag. */
  imageTag?: string;
  /** Infra. */
  infra?: ComponentConfig;
  /** Monitor account. */
  monitorAccount?: string;
  /** Monitor namespace. */
  monitorNamespace?: string;
  /** Product component. */
  productComponent?: string;
  /** Product name. */
  productName?: string;
  /** Product version. */
  productVersion?: string;
  /** Service monitor namespace. */
  serviceMonitorNamespace?: string;
  /** Synchronization port. */
  synchronizationPort?: string;
  /** Uninstall strategy. */
  uninstallStrategy?: "RemoveWorkloads" | "BlockUninstallIfWorkloadsExist" | (string & {});
  /** Virt handler pools. */
  virtHandlerPools?: VirtHandlerPool[];
  /** Workload update strategy. */
  workloadUpdateStrategy?: KubeVirtWorkloadUpdateStrategy;
  /** Workloads. */
  workloads?: ComponentConfig;
}

/** Kube virt status. */
export interface KubeVirtStatus {
  /** Conditions. */
  conditions?: Condition[];
  /** Default architecture. */
  defaultArchitecture?: string;
  /** Generations. */
  generations?: GenerationStatus[];
  /** Observed deployment config. */
  observedDeploymentConfig?: string;
  /** Observed deployment ID. */
  observedDeploymentID?: string;
  /** Observed generation. */
  observedGeneration?: number;
  /** Observed kube virt registry. */
  observedKubeVirtRegistry?: string;
  /** Observed kube virt version. */
  observedKubeVirtVersion?: string;
  /** Operator version. */
  operatorVersion?: string;
  /** Outdated virtual machine instance workloads. */
  outdatedVirtualMachineInstanceWorkloads?: number;
  /** Phase. */
  phase?: "Deploying" | "Deployed" | "Deleting" | "Deleted";
  /** Synchronization addresses. */
  synchronizationAddresses?: string[];
  /** Target deployment config. */
  targetDeploymentConfig?: string;
  /** Target deployment ID. */
  targetDeploymentID?: string;
  /** Target kube virt registry. */
  targetKubeVirtRegistry?: string;
  /** Target kube virt version. */
  targetKubeVirtVersion?: string;
}

/** Generation status. */
export interface GenerationStatus {
  /** Name. */
  name: string;
  /** Group. */
  group: string;
  /** Hash. */
  hash?: string;
  /** Last generation. */
  lastGeneration: number;
  /** Namespace. */
  namespace?: string;
  /** Resource. */
  resource: string;
}

/** Kube virt workload update strategy. */
export interface KubeVirtWorkloadUpdateStrategy {
  /** Batch eviction interval. */
  batchEvictionInterval?: string;
  /** Batch eviction size. */
  batchEvictionSize?: number;
  /** Workload update methods. */
  workloadUpdateMethods?: ("LiveMigrate" | "Evict" | (string & {}))[];
}

/** Component config. */
export interface ComponentConfig {
  /** Node placement. */
  nodePlacement?: NodePlacement;
  /** Replicas. */
  replicas?: number;
}

/** Node placement. */
export interface NodePlacement {
  /** Affinity. */
  affinity?: Affinity;
  /** Node selector. */
  nodeSelector?: Record<string, string>;
  /** Tolerations. */
  tolerations?: Toleration[];
}

/** Customize components. */
export interface CustomizeComponents {
  /** Flags. */
  flags?: Flags;
  /** Patches. */
  patches?: CustomizeComponentsPatch[];
}

/** Flags. */
export interface Flags {
  /** Api. */
  api?: Record<string, string>;
  /** Controller. */
  controller?: Record<string, string>;
  /** Handler. */
  handler?: Record<string, string>;
}

/** Customize components patch. */
export interface CustomizeComponentsPatch {
  /** Patch. */
  patch: string;
  /** Resource name. */
  resourceName: string;
  /** Resource type. */
  resourceType: string;
  /** Type. */
  type: "json" | "merge" | "strategic" | (string & {});
}
