import type { Pod, TopologySpreadConstraint } from "@polyvirt/api/k8s";
import { noClaims, type ClaimRules } from "./claims.ts";
import { matchesTerm, nodeFilters } from "./node-fit.ts";
import { createPodRules, type PodRules } from "./pod-affinity.ts";
import { podRequests } from "./resource-amount.ts";
import type { NodeState, Snapshot } from "./snapshot.ts";
import { tolerates } from "./taints.ts";

export type Decision =
  | { readonly fits: true; readonly nodeName: string }
  | {
      readonly fits: false;
      /** For the PodScheduled condition and the event. */
      readonly message: string;
      /** Nodes on which the pod would have to wait for other pods to go. */
      readonly crowded: readonly NodeState[];
    };

export interface ScheduleContext {
  readonly namespaceLabels: (namespace: string) => Readonly<Record<string, string>>;
  readonly claims: ClaimRules;
  /** How the pod is spread beside its own constraints. */
  readonly wishes?: readonly TopologySpreadConstraint[];
}

const plainContext: ScheduleContext = { namespaceLabels: () => ({}), claims: noClaims };

/** Where a pod should go, or why it fits nowhere. Pure: the same pod and snapshot give the same answer. */
export function schedule(pod: Pod, snapshot: Snapshot, context: ScheduleContext = plainContext): Decision {
  const total = snapshot.nodes.length;
  if (total === 0) return { fits: false, message: "no nodes available to schedule pods", crowded: [] };
  const { problem } = context.claims;
  if (problem !== undefined) {
    return { fits: false, message: `0/${total} nodes are available: ${problem}.`, crowded: [] };
  }
  const requests = podRequests(pod.spec);
  const rules = createPodRules(pod, snapshot, context.namespaceLabels, context.wishes);
  const reasons = new Map<string, number>();
  const candidates: NodeState[] = [];
  const crowded: NodeState[] = [];
  for (const state of snapshot.nodes) {
    const against = objectionsOf(pod, state, requests, rules, context.claims);
    if (against.reasons.length === 0) candidates.push(state);
    else if (against.resolvable) crowded.push(state);
    for (const reason of against.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const best = chooseBest(pod, candidates, requests, rules);
  if (best !== undefined) return { fits: true, nodeName: best.name };
  return { fits: false, message: explain(reasons, total), crowded };
}

interface Objections {
  readonly reasons: readonly string[];
  /** Whether the end of other pods can change that. */
  readonly resolvable: boolean;
}

/** What speaks against one node: the first filter that objects. */
export function objectionsOf(
  pod: Pod,
  state: NodeState,
  requests: ReadonlyMap<string, number>,
  rules: PodRules,
  claims: ClaimRules,
): Objections {
  for (const filter of nodeFilters) {
    const reasons = filter.reasons(pod, state, requests);
    if (reasons.length > 0) return { reasons, resolvable: filter.resolvable };
  }
  const claimReasons = claims.reasonsAgainst(state);
  if (claimReasons.length > 0) return { reasons: claimReasons, resolvable: false };
  const reasons = rules.reasonsAgainst(state);
  return { reasons, resolvable: !reasons.includes("node(s) didn't match pod affinity rules") };
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function explain(reasons: ReadonlyMap<string, number>, nodes: number): string {
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${counted.join(", ")}.`;
}

interface Scores {
  readonly state: NodeState;
  readonly affinity: number;
  readonly podAffinity: number;
  readonly crowding: number;
  readonly taints: number;
  readonly free: number;
}

/** kube-scheduler's default weights: taints 3, node affinity 2, pod affinity 2, spread 2, free resources 1. */
function chooseBest(
  pod: Pod,
  candidates: readonly NodeState[],
  requests: ReadonlyMap<string, number>,
  rules: PodRules,
): NodeState | undefined {
  if (candidates.length < 2) return candidates[0];
  const scored = candidates.map((state): Scores => ({
    state,
    affinity: preferredAffinity(pod, state),
    podAffinity: rules.preference(state),
    crowding: rules.crowding(state),
    taints: avoidedTaints(pod, state),
    free: freeShare(state, requests),
  }));
  const affinity = normalizer(scored.map((score) => score.affinity));
  const podAffinity = normalizer(scored.map((score) => score.podAffinity));
  const taints = normalizer(scored.map((score) => score.taints));
  const spread = spreadScore(scored.map((score) => score.crowding));
  const total = (score: Scores): number =>
    2 * affinity(score.affinity) +
    2 * podAffinity(score.podAffinity) +
    2 * spread(score.crowding) -
    3 * taints(score.taints) +
    score.free;
  let best: { score: number; state: NodeState } | undefined;
  for (const entry of scored) {
    const score = total(entry);
    const better = best === undefined || score > best.score + 1e-9;
    const equal = best !== undefined && Math.abs(score - best.score) <= 1e-9;
    if (better || (equal && best !== undefined && entry.state.pods.size < best.state.pods.size)) {
      best = { score, state: entry.state };
    }
  }
  return best?.state;
}

/** Maps the lowest value to 0 and the highest to 1. */
function normalizer(values: readonly number[]): (value: number) => number {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  return (value) => (high === low ? 0 : (value - low) / (high - low));
}

/** The emptiest domain scores 1, and the others in proportion, as with kube-scheduler: two of ten differ less than none of one. */
function spreadScore(crowdings: readonly number[]): (crowding: number) => number {
  const low = Math.min(...crowdings);
  const high = Math.max(...crowdings);
  return (crowding) => (high === 0 ? 0 : (high + low - crowding) / high);
}

function preferredAffinity(pod: Pod, state: NodeState): number {
  const terms = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  let sum = 0;
  for (const { weight, preference } of terms) if (matchesTerm(preference, state.node)) sum += weight;
  return sum;
}

function avoidedTaints(pod: Pod, { node }: NodeState): number {
  return (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === "PreferNoSchedule" && !tolerates(pod.spec.tolerations, taint),
  ).length;
}

/** Mean of the free shares of cpu and memory after placing the pod. */
function freeShare(state: NodeState, requests: ReadonlyMap<string, number>): number {
  const shares = ["cpu", "memory"].map((name) => {
    const allocatable = state.allocatable.get(name) ?? 0;
    if (allocatable === 0) return 0;
    return Math.max(0, 1 - ((state.used.get(name) ?? 0) + (requests.get(name) ?? 0)) / allocatable);
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
