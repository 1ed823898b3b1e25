import type { Node, NodeSelectorTerm, Pod } from "@polyvirt/api/k8s";
import { matchesRequirement } from "./label-match.ts";
import type { NodeState } from "./snapshot.ts";
import { tolerates } from "./taints.ts";

/** Why a pod cannot go to a node, in the words of kube-scheduler; empty when it can. */
type NodeFilter = (pod: Pod, state: NodeState, requests: ReadonlyMap<string, number>) => string[];

const unschedulableTaint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

interface FilterEntry {
  readonly reasons: NodeFilter;
  /** Whether the end of other pods can change the answer. */
  readonly resolvable: boolean;
}

/** In kube-scheduler's order: the first filter that objects gives the reasons. */
export const nodeFilters: readonly FilterEntry[] = [
  { reasons: nodeUnschedulable, resolvable: false },
  { reasons: untoleratedTaint, resolvable: false },
  { reasons: nodeAffinity, resolvable: false },
  { reasons: hostPorts, resolvable: true },
  { reasons: resourcesFit, resolvable: true },
];

function nodeUnschedulable(pod: Pod, { node }: NodeState): string[] {
  const blocked = node.spec?.unschedulable === true && !tolerates(pod.spec.tolerations, unschedulableTaint);
  return blocked ? ["node(s) were unschedulable"] : [];
}

function untoleratedTaint(pod: Pod, { node }: NodeState): string[] {
  const taint = (node.spec?.taints ?? []).find(
    (candidate) => candidate.effect !== "PreferNoSchedule" && !tolerates(pod.spec.tolerations, candidate),
  );
  return taint === undefined ? [] : [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`];
}

function nodeAffinity(pod: Pod, { node }: NodeState): string[] {
  return matchesNode(pod, node) ? [] : ["node(s) didn't match Pod's node affinity/selector"];
}

/** nodeSelector and required node affinity; also what decides where a DaemonSet's pods belong. */
export function matchesNode(pod: Pick<Pod, "spec">, node: Node): boolean {
  const labels = node.metadata.labels;
  const selected = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels?.[key] === value);
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return selected && (required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node)));
}

/** A term without any requirement matches no node. */
export function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  const fieldValues = { "metadata.name": node.metadata.name ?? "" };
  return (
    expressions.every((requirement) => matchesRequirement(requirement, node.metadata.labels)) &&
    fields.every((requirement) => matchesRequirement(requirement, fieldValues))
  );
}

function hostPorts(pod: Pod, { pods }: NodeState): string[] {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return [];
  const taken = new Set([...pods.values()].flatMap(hostPortsOf));
  return wanted.some((port) => taken.has(port)) ? ["node(s) didn't have free ports for the requested pod ports"] : [];
}

function hostPortsOf(pod: Pod): string[] {
  return pod.spec.containers
    .flatMap(({ ports }) => ports ?? [])
    .filter(({ hostPort }) => hostPort !== undefined && hostPort > 0)
    .map(({ protocol, hostPort }) => `${protocol ?? "TCP"}/${hostPort}`);
}

function resourcesFit(_pod: Pod, state: NodeState, requests: ReadonlyMap<string, number>): string[] {
  const reasons: string[] = [];
  const most = state.allocatable.get("pods");
  if (most !== undefined && state.pods.size + 1 > most) reasons.push("Too many pods");
  for (const [name, amount] of requests) {
    if (amount === 0) continue;
    if ((state.used.get(name) ?? 0) + amount > (state.allocatable.get(name) ?? 0)) reasons.push(`Insufficient ${name}`);
  }
  return reasons;
}
