import type { Affinity, Toleration, TopologySpreadConstraint } from "./affinity.ts";
import type { Container, ContainerStatus, EphemeralContainer, ResourceList, SELinuxOptions } from "./container.ts";
import type { Condition, KubeObject, ObjectMeta, ResourceType } from "./meta.ts";
import type { Volume } from "./volume.ts";

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
export type RestartPolicy = "Always" | "OnFailure" | "Never";

export interface PodSecurityContext {
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  fsGroup?: number;
  fsGroupChangePolicy?: string;
  supplementalGroups?: number[];
  seLinuxOptions?: SELinuxOptions;
  seccompProfile?: { type: string; localhostProfile?: string };
  sysctls?: { name: string; value: string }[];
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  /** Added to a running pod through the subresource of this name. */
  ephemeralContainers?: EphemeralContainer[];
  volumes?: Volume[];
  restartPolicy?: RestartPolicy;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: Affinity;
  tolerations?: Toleration[];
  topologySpreadConstraints?: TopologySpreadConstraint[];
  schedulerName?: string;
  schedulingGates?: { name: string }[];
  priority?: number;
  priorityClassName?: string;
  preemptionPolicy?: "PreemptLowerPriority" | "Never";
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  hostname?: string;
  subdomain?: string;
  hostAliases?: { ip: string; hostnames?: string[] }[];
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  shareProcessNamespace?: boolean;
  dnsPolicy?: string;
  dnsConfig?: { nameservers?: string[]; searches?: string[]; options?: { name?: string; value?: string }[] };
  enableServiceLinks?: boolean;
  readinessGates?: { conditionType: string }[];
  securityContext?: PodSecurityContext;
  imagePullSecrets?: { name?: string }[];
  runtimeClassName?: string;
  overhead?: ResourceList;
  resourceClaims?: { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[];
}

export interface PodStatus {
  phase?: PodPhase;
  conditions?: Condition[];
  message?: string;
  reason?: string;
  nominatedNodeName?: string;
  hostIP?: string;
  hostIPs?: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
  qosClass?: "Guaranteed" | "Burstable" | "BestEffort";
  observedGeneration?: number;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface PodTemplateSpec {
  metadata?: ObjectMeta;
  spec: PodSpec;
}

/** Body of the `pods/binding` subresource: the scheduler's decision. */
export interface Binding extends KubeObject {
  target: { apiVersion?: string; kind?: string; name: string };
}

/** Body of the `pods/eviction` subresource. */
export interface Eviction extends KubeObject {
  deleteOptions?: { gracePeriodSeconds?: number; preconditions?: { uid?: string; resourceVersion?: string } };
}

export const pods: ResourceType<Pod> = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
