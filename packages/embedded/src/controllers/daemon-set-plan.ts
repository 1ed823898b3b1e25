import type { DaemonSet, Node, Pod, PodTemplateSpec, Toleration } from "@polyvirt/api/k8s";
import { matchesNode } from "../scheduler/node-fit.ts";
import { tolerates } from "../scheduler/taints.ts";
import { isPodAvailable, isPodLive, isPodReady, resolveIntOrPercent } from "./pod-readiness.ts";
import { podFromTemplate } from "./pod-template.ts";

export const revisionLabel = "controller-revision-hash";

/** Daemons stay where others are driven away, as Kubernetes does it. */
const daemonTolerations: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];

export interface DaemonSetPlan {
  /** Names of nodes that need a pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
}

interface NodePods {
  readonly node: Node;
  readonly wanted: boolean;
  readonly live: readonly Pod[];
}

/** One pod on each matching node; outdated ones are replaced as far as `maxUnavailable` allows. Pure. */
export function planDaemonSet(
  daemonSet: DaemonSet,
  nodes: readonly Node[],
  owned: readonly Pod[],
  revision: string,
  now: number,
): DaemonSetPlan {
  if (daemonSet.metadata.deletionTimestamp !== undefined) return { create: [], remove: [] };
  const places = placesOf(daemonSet, nodes, owned);
  const create = places.filter(({ node, wanted, live }) => wanted && live.length === 0 && !isEnding(node, owned));
  const surplus = places.flatMap(({ wanted, live }) => (wanted ? [...live].sort(oldestFirst).slice(1) : live));
  // A daemon that ended cannot be restarted by its kubelet any more: it makes room for a new one.
  const finished = owned.filter((pod) => pod.metadata.deletionTimestamp === undefined && !isPodLive(pod));
  const nodeNames = new Set(nodes.map(({ metadata }) => metadata.name));
  const homeless = owned.filter((pod) => isPodLive(pod) && !nodeNames.has(targetNode(pod) ?? ""));
  const outdated = planUpdate(daemonSet, places, revision, now);
  return {
    create: create.map(({ node }) => node.metadata.name ?? ""),
    remove: [...new Set([...surplus, ...finished, ...homeless, ...outdated])],
  };
}

function planUpdate(daemonSet: DaemonSet, places: readonly NodePods[], revision: string, now: number): Pod[] {
  if (daemonSet.spec.updateStrategy?.type === "OnDelete") return [];
  const wanted = places.filter((place) => place.wanted);
  const maximum = Math.max(
    1,
    resolveIntOrPercent(daemonSet.spec.updateStrategy?.rollingUpdate?.maxUnavailable, wanted.length, "up", 1),
  );
  const minReady = daemonSet.spec.minReadySeconds ?? 0;
  const serves = (pod: Pod): boolean => isPodAvailable(pod, minReady, now);
  const outdated = wanted
    .flatMap(({ live }) => live.slice(0, 1))
    .filter((pod) => pod.metadata.labels?.[revisionLabel] !== revision);
  const idle = outdated.filter((pod) => !serves(pod));
  const unavailable = wanted.filter(({ live }) => !live.some(serves)).length;
  return [...idle, ...outdated.filter(serves).slice(0, Math.max(0, maximum - unavailable))];
}

function placesOf(daemonSet: DaemonSet, nodes: readonly Node[], owned: readonly Pod[]): NodePods[] {
  const template = withTolerations(daemonSet.spec.template);
  return nodes.map((node) => ({
    node,
    wanted: belongsOn(template, node),
    live: owned.filter((pod) => isPodLive(pod) && targetNode(pod) === node.metadata.name),
  }));
}

/** Whether the node still has a daemon that is on its way out; the next one waits for it, they share paths and ports. */
function isEnding(node: Node, owned: readonly Pod[]): boolean {
  return owned.some((pod) => targetNode(pod) === node.metadata.name && pod.metadata.deletionTimestamp !== undefined);
}

function belongsOn(template: PodTemplateSpec, node: Node): boolean {
  const blocking = (node.spec?.taints ?? []).filter(({ effect }) => effect !== "PreferNoSchedule");
  return matchesNode(template, node) && blocking.every((taint) => tolerates(template.spec.tolerations, taint));
}

function withTolerations(template: PodTemplateSpec): PodTemplateSpec {
  const tolerations = [...(template.spec.tolerations ?? []), ...daemonTolerations];
  return { ...template, spec: { ...template.spec, tolerations } };
}

/** The node that a daemon runs on, or is meant for while it is not bound. */
function targetNode(pod: Pod): string | undefined {
  if (pod.spec.nodeName !== undefined) return pod.spec.nodeName;
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.find(({ key }) => key === "metadata.name")?.values?.[0];
}

function oldestFirst(a: Pod, b: Pod): number {
  const age = (pod: Pod): number => Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
  return age(a) - age(b);
}

/** The daemon for one node: the template, pinned to the node; the scheduler still checks that it fits. */
export function daemonPod(daemonSet: DaemonSet, nodeName: string, revision: string): Pod {
  const template = withTolerations(daemonSet.spec.template);
  const pod = podFromTemplate(daemonSet, template, {
    namePrefix: daemonSet.metadata.name ?? "",
    labels: { [revisionLabel]: revision },
  });
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [nodeName] }] }];
  pod.spec.affinity = {
    ...pod.spec.affinity,
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
  return pod;
}

export function daemonSetStatus(
  daemonSet: DaemonSet,
  nodes: readonly Node[],
  owned: readonly Pod[],
  revision: string,
  now: number,
): NonNullable<DaemonSet["status"]> {
  const places = placesOf(daemonSet, nodes, owned);
  const wanted = places.filter((place) => place.wanted);
  const first = wanted.flatMap(({ live }) => live.slice(0, 1));
  const available = first.filter((pod) => isPodAvailable(pod, daemonSet.spec.minReadySeconds ?? 0, now)).length;
  return {
    currentNumberScheduled: first.length,
    numberMisscheduled: places.filter((place) => !place.wanted && place.live.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: first.filter(isPodReady).length,
    updatedNumberScheduled: first.filter((pod) => pod.metadata.labels?.[revisionLabel] === revision).length,
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
    observedGeneration: daemonSet.metadata.generation ?? 0,
  };
}
