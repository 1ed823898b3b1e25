import type { LabelSelector, Pod, PodAffinityTerm, TopologySpreadConstraint } from "@polyvirt/api/k8s";
import { matchesSelector } from "./label-match.ts";
import { matchesNode } from "./node-fit.ts";
import type { NodeState, Snapshot } from "./snapshot.ts";
import { tolerates } from "./taints.ts";

type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>>;

/** Which topology domains (values of a node label) hold pods that a term is about. */
type Domains = Map<string, number>;

/**
 * Pod affinity, anti-affinity (also of the pods that are there already) and topology spread for one pod: what does not
 * depend on the node is counted once, then each node is a few lookups.
 */
export interface PodRules {
  /** Why the pod cannot go to this node, in kube-scheduler's words. */
  reasonsAgainst(state: NodeState): string[];
  /** Whether other pods matter at all to where this one can go. */
  readonly dependsOnOthers: boolean;
  /** Sum of the weights of preferred terms that the node satisfies. */
  preference(state: NodeState): number;
  /** How full the node's domains are by what spread constraints wish; 0 where there is no wish. */
  crowding(state: NodeState): number;
}

/** `wishes` are spread constraints that the pod has not itself, but that it is placed by. */
export function createPodRules(
  pod: Pod,
  snapshot: Snapshot,
  namespaceLabels: NamespaceLabels,
  wishes: readonly TopologySpreadConstraint[] = [],
): PodRules {
  const count = (term: PodAffinityTerm): Domains => countDomains(term, pod, snapshot, namespaceLabels);
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const wanted = (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => ({
    term,
    domains: count(term),
    self: concerns(term, pod, pod, namespaceLabels),
  }));
  const unwanted = (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => ({
    term,
    domains: count(term),
  }));
  const objections = existingObjections(pod, snapshot, namespaceLabels);
  const spread = spreadRules(pod, snapshot, [...(pod.spec.topologySpreadConstraints ?? []), ...wishes]);
  const wished = spread.filter(({ required }) => !required);
  const preferred = [
    ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((entry) => ({ ...entry, sign: 1 })),
    ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((entry) => ({
      ...entry,
      sign: -1,
    })),
  ].map(({ podAffinityTerm, weight, sign }) => ({
    key: podAffinityTerm.topologyKey,
    weight: weight * sign,
    domains: count(podAffinityTerm),
  }));

  return {
    dependsOnOthers: wanted.length + unwanted.length + objections.length + spread.length - wished.length > 0,
    reasonsAgainst({ labels }) {
      if (spread.some((rule) => rule.required && rule.forbids(labels))) {
        return ["node(s) didn't match pod topology spread constraints"];
      }
      // The first pod of a group that wants its own kind nearby may go anywhere the label exists.
      const missing = wanted.some(({ term, domains, self }) => {
        const domain = labels[term.topologyKey];
        return domain === undefined || !(domains.has(domain) || (domains.size === 0 && self));
      });
      if (missing) return ["node(s) didn't match pod affinity rules"];
      if (unwanted.some(({ term, domains }) => domains.has(labels[term.topologyKey] ?? ""))) {
        return ["node(s) didn't match pod anti-affinity rules"];
      }
      const objected = objections.some(({ key, domain }) => labels[key] === domain);
      return objected ? ["node(s) didn't satisfy existing pods anti-affinity rules"] : [];
    },
    preference({ labels }) {
      let sum = 0;
      for (const { key, weight, domains } of preferred) sum += weight * (domains.get(labels[key] ?? "") ?? 0);
      return sum;
    },
    crowding: ({ labels }) => wished.reduce((sum, rule) => sum + rule.crowding(labels), 0),
  };
}

function countDomains(term: PodAffinityTerm, owner: Pod, snapshot: Snapshot, labels: NamespaceLabels): Domains {
  const domains: Domains = new Map();
  for (const state of snapshot.nodes) {
    const domain = state.labels[term.topologyKey];
    if (domain === undefined) continue;
    for (const other of state.pods.values()) {
      if (concerns(term, owner, other, labels)) domains.set(domain, (domains.get(domain) ?? 0) + 1);
    }
  }
  return domains;
}

/** Whether the owner's term is about the other pod: its labels, and a namespace that the term names. */
function concerns(term: PodAffinityTerm, owner: Pod, other: Pod, namespaceLabels: NamespaceLabels): boolean {
  const namespace = other.metadata.namespace ?? "";
  const named = term.namespaces ?? [];
  const selected =
    term.namespaceSelector !== undefined && matchesSelector(term.namespaceSelector, namespaceLabels(namespace));
  const own = named.length === 0 && term.namespaceSelector === undefined && namespace === owner.metadata.namespace;
  return (own || selected || named.includes(namespace)) && matchesSelector(term.labelSelector, other.metadata.labels);
}

function existingObjections(pod: Pod, snapshot: Snapshot, labels: NamespaceLabels): { key: string; domain: string }[] {
  const found: { key: string; domain: string }[] = [];
  for (const { pod: other, state } of snapshot.objectors) {
    for (const term of other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      const domain = state.labels[term.topologyKey];
      if (domain !== undefined && concerns(term, other, pod, labels)) found.push({ key: term.topologyKey, domain });
    }
  }
  return found;
}

interface SpreadRule {
  /** Nodes that would be filled too unevenly must not, or only should not, be used. */
  readonly required: boolean;
  forbids(labels: Readonly<Record<string, string>>): boolean;
  /** Pods of the group in the node's domain. They count the more, the more domains there are to choose from. */
  crowding(labels: Readonly<Record<string, string>>): number;
}

function spreadRules(pod: Pod, snapshot: Snapshot, constraints: readonly TopologySpreadConstraint[]): SpreadRule[] {
  return constraints.map((constraint) => {
    const key = constraint.topologyKey;
    const domains = countSelected(constraint, pod, snapshot);
    const enough = domains.size >= (constraint.minDomains ?? 1);
    const least = enough ? Math.min(...domains.values()) : 0;
    const self = matchesSelector(spreadSelector(constraint, pod), pod.metadata.labels) ? 1 : 0;
    return {
      required: constraint.whenUnsatisfiable === "DoNotSchedule",
      forbids(labels) {
        const count = domains.get(labels[key] ?? "");
        return count === undefined || count + self - least > constraint.maxSkew;
      },
      crowding(labels) {
        const count = domains.get(labels[key] ?? "");
        return count === undefined ? 0 : count * Math.log(domains.size + 2) + constraint.maxSkew - 1;
      },
    };
  });
}

/** `matchLabelKeys` narrow the group to pods with the same values as this one, such as those of one rollout. */
function spreadSelector(
  { labelSelector, matchLabelKeys }: TopologySpreadConstraint,
  pod: Pod,
): LabelSelector | undefined {
  if (labelSelector === undefined || matchLabelKeys === undefined) return labelSelector;
  const own = matchLabelKeys.flatMap((key) => {
    const value = pod.metadata.labels?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return { ...labelSelector, matchLabels: { ...labelSelector.matchLabels, ...Object.fromEntries(own) } };
}

/** Every domain of the key, also those without a matching pod; of nodes that the pod could go to, unless it says otherwise. */
function countSelected(constraint: TopologySpreadConstraint, pod: Pod, snapshot: Snapshot): Domains {
  const domains: Domains = new Map();
  const selector = spreadSelector(constraint, pod);
  for (const state of snapshot.nodes) {
    const domain = state.labels[constraint.topologyKey];
    if (domain === undefined || !isCounted(constraint, pod, state)) continue;
    const matching = [...state.pods.values()].filter(
      (other) =>
        other.metadata.namespace === pod.metadata.namespace &&
        other.metadata.deletionTimestamp === undefined &&
        matchesSelector(selector, other.metadata.labels),
    );
    domains.set(domain, (domains.get(domain) ?? 0) + matching.length);
  }
  return domains;
}

function isCounted(constraint: TopologySpreadConstraint, pod: Pod, { node }: NodeState): boolean {
  if ((constraint.nodeAffinityPolicy ?? "Honor") === "Honor" && !matchesNode(pod, node)) return false;
  if (constraint.nodeTaintsPolicy !== "Honor") return true;
  return (node.spec?.taints ?? []).every(
    (taint) => taint.effect === "PreferNoSchedule" || tolerates(pod.spec.tolerations, taint),
  );
}
