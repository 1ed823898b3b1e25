import type { Condition, KubeObject, LabelSelector, ResourceType } from "./meta.ts";
import type { PodTemplateSpec } from "./pod.ts";

export interface Deployment extends KubeObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplateSpec;
    strategy?: {
      type?: "RollingUpdate" | "Recreate";
      rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string };
    };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    paused?: boolean;
    progressDeadlineSeconds?: number;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    unavailableReplicas?: number;
    collisionCount?: number;
    conditions?: (Condition & { lastUpdateTime?: string })[];
  };
}

export interface ReplicaSet extends KubeObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template?: PodTemplateSpec;
    minReadySeconds?: number;
  };
  status?: {
    replicas: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

export interface DaemonSet extends KubeObject {
  spec: {
    selector: LabelSelector;
    template: PodTemplateSpec;
    updateStrategy?: {
      type?: "RollingUpdate" | "OnDelete";
      rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string };
    };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: {
    currentNumberScheduled: number;
    numberMisscheduled: number;
    desiredNumberScheduled: number;
    numberReady: number;
    updatedNumberScheduled?: number;
    numberAvailable?: number;
    numberUnavailable?: number;
    observedGeneration?: number;
    collisionCount?: number;
    conditions?: Condition[];
  };
}

export interface ControllerRevision extends KubeObject {
  data?: unknown;
  revision: number;
}

const apps = { group: "apps", version: "v1" } as const;

export const deployments: ResourceType<Deployment> = {
  ...apps,
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};
export const replicaSets: ResourceType<ReplicaSet> = {
  ...apps,
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};
export const daemonSets: ResourceType<DaemonSet> = {
  ...apps,
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
};
export const controllerRevisions: ResourceType<ControllerRevision> = {
  ...apps,
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  namespaced: true,
};
