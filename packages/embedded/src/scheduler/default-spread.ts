import type { LabelSelector, Pod, ReplicaSet, Service, TopologySpreadConstraint } from "@polyvirt/api/k8s";
import { matchesSelector } from "./label-match.ts";

/** What says which pods belong together. */
export interface PodGroups {
  services(): readonly Service[];
  replicaSet(namespace: string, name: string): ReplicaSet | undefined;
}

/** kube-scheduler's defaults: a wish that is weaker than any constraint of the pod's own. */
const wishes = [
  { maxSkew: 3, topologyKey: "kubernetes.io/hostname" },
  { maxSkew: 5, topologyKey: "topology.kubernetes.io/zone" },
] as const;

/** How a pod without constraints of its own is spread: away from the others of its services and its replica set. */
export function defaultSpread(pod: Pod, groups: PodGroups): TopologySpreadConstraint[] {
  if ((pod.spec.topologySpreadConstraints ?? []).length > 0) return [];
  const labelSelector = groupSelector(pod, groups);
  if (labelSelector === undefined) return [];
  return wishes.map((wish) => ({ ...wish, whenUnsatisfiable: "ScheduleAnyway", labelSelector }));
}

function groupSelector(pod: Pod, groups: PodGroups): LabelSelector | undefined {
  const { namespace = "", labels, ownerReferences = [] } = pod.metadata;
  const served = groups
    .services()
    .filter(({ metadata, spec }) => metadata.namespace === namespace && isAbout(spec?.selector, labels))
    .map(({ spec }): LabelSelector => ({ matchLabels: spec?.selector ?? {} }));
  const owner = ownerReferences.find(({ controller, kind }) => controller === true && kind === "ReplicaSet");
  const owned = owner === undefined ? undefined : groups.replicaSet(namespace, owner.name)?.spec?.selector;
  const selectors = owned === undefined ? served : [...served, owned];
  if (selectors.length === 0) return undefined;
  return {
    matchLabels: Object.assign({}, ...selectors.map(({ matchLabels }) => matchLabels)),
    matchExpressions: selectors.flatMap(({ matchExpressions = [] }) => matchExpressions),
  };
}

/** A service without a selector has no pods. */
function isAbout(selector: Readonly<Record<string, string>> | undefined, labels: Pod["metadata"]["labels"]): boolean {
  return Object.keys(selector ?? {}).length > 0 && matchesSelector({ matchLabels: selector ?? {} }, labels);
}
