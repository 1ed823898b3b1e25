import type { Pod, PodDisruptionBudget } from "@polyvirt/api/k8s";
import { matchesSelector } from "./label-match.ts";
import { createPodRules, type PodRules } from "./pod-affinity.ts";
import { podRequests } from "./resource-amount.ts";
import { explain, objectionsOf, type ScheduleContext } from "./schedule.ts";
import { snapshotWithout, type NodeState, type Snapshot } from "./snapshot.ts";

export type Preemption =
  | { readonly kind: "victims"; readonly nodeName: string; readonly victims: readonly Pod[] }
  /** Victims of an earlier pass are still leaving; then the pod fits. */
  | { readonly kind: "leaving"; readonly nodeName: string; readonly message: string }
  /** Why nobody is asked to go, in kube-scheduler's words. */
  | { readonly kind: "none"; readonly message: string };

interface PreemptionContext extends ScheduleContext {
  readonly budgets: readonly PodDisruptionBudget[];
}

interface Candidate {
  readonly state: NodeState;
  readonly victims: readonly Pod[];
  readonly violations: number;
}

/**
 * Which pods of lower priority have to go so that a pod fits: on the node where fewest disruption budgets are violated,
 * then where the victims matter least. Pure.
 */
export function planPreemption(
  pod: Pod,
  snapshot: Snapshot,
  crowded: readonly NodeState[],
  context: PreemptionContext,
): Preemption {
  if (pod.spec.preemptionPolicy === "Never") {
    return { kind: "none", message: "not eligible due to preemptionPolicy=Never." };
  }
  const nodeName = nodeBeingCleared(pod, snapshot);
  if (nodeName !== undefined) {
    const message = "not eligible due to a terminating pod on the nominated node.";
    return { kind: "leaving", nodeName, message };
  }
  const rules = createPodRules(pod, snapshot, context.namespaceLabels);
  const reasons = new Map<string, number>();
  const count = (reason: string, by = 1): unknown => reasons.set(reason, (reasons.get(reason) ?? 0) + by);
  const candidates: Candidate[] = [];
  for (const state of crowded) {
    const result = victimsOn(pod, state, snapshot, rules, context);
    if (typeof result === "string") count(result);
    else candidates.push(result);
  }
  const [best] = candidates.toSorted(leastHarmFirst);
  if (best !== undefined) return { kind: "victims", nodeName: best.state.name, victims: best.victims };
  const helpless = snapshot.nodes.length - crowded.length;
  if (helpless > 0) count("Preemption is not helpful for scheduling", helpless);
  return { kind: "none", message: explain(reasons, snapshot.nodes.length) };
}

function nodeBeingCleared(pod: Pod, snapshot: Snapshot): string | undefined {
  const nominated = snapshot.nodes.find(({ name }) => name === pod.status?.nominatedNodeName);
  const leaving = [...(nominated?.pods.values() ?? [])].some(
    (other) => other.metadata.deletionTimestamp !== undefined && priorityOf(other) < priorityOf(pod),
  );
  return leaving ? nominated?.name : undefined;
}

/** The fewest and least important pods of a node that have to go; why there are none otherwise. */
function victimsOn(
  pod: Pod,
  state: NodeState,
  snapshot: Snapshot,
  rules: PodRules,
  context: PreemptionContext,
): Candidate | string {
  const lower = [...state.pods.values()].filter((other) => priorityOf(other) < priorityOf(pod));
  if (lower.length === 0) return "No preemption victims found for incoming pod";
  const requests = podRequests(pod.spec);
  const removed = new Set(lower.map(uidOf));
  const objection = (): string | undefined => {
    const rest = snapshotWithout(snapshot, state, removed);
    const left = rules.dependsOnOthers ? createPodRules(pod, rest.snapshot, context.namespaceLabels) : rules;
    return objectionsOf(pod, rest.state, requests, left, context.claims).reasons[0];
  };
  const still = objection();
  if (still !== undefined) return still;
  const { violating, harmless } = splitByBudget(lower.toSorted(moreImportantFirst), context.budgets);
  let violations = 0;
  for (const other of [...violating, ...harmless]) {
    removed.delete(uidOf(other));
    if (objection() === undefined) continue;
    removed.add(uidOf(other));
    if (violating.includes(other)) violations++;
  }
  return {
    state,
    victims: lower.filter((other) => removed.has(uidOf(other))).toSorted(moreImportantFirst),
    violations,
  };
}

/** Pods whose end would leave a budget overdrawn, when they go in this order. */
function splitByBudget(
  pods: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
): { violating: Pod[]; harmless: Pod[] } {
  const left = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  const violating: Pod[] = [];
  const harmless: Pod[] = [];
  for (const pod of pods) {
    const matching = budgets.filter(
      ({ metadata, spec }) =>
        metadata.namespace === pod.metadata.namespace && matchesSelector(spec?.selector, pod.metadata.labels),
    );
    for (const budget of matching) left.set(budget, (left.get(budget) ?? 0) - 1);
    (matching.some((budget) => (left.get(budget) ?? 0) < 0) ? violating : harmless).push(pod);
  }
  return { violating, harmless };
}

/** kube-scheduler's order: budgets, then the highest priority, the sum of priorities, the number and the age of victims. */
function leastHarmFirst(a: Candidate, b: Candidate): number {
  const highest = ({ victims }: Candidate): number => priorityOf(victims[0]);
  // Each victim counts, also one whose priority is negative.
  const sum = ({ victims }: Candidate): number => victims.reduce((total, pod) => total + priorityOf(pod) + 2 ** 31, 0);
  const begun = ({ victims }: Candidate): number => Math.min(...victims.map(startOf));
  return (
    a.violations - b.violations ||
    highest(a) - highest(b) ||
    sum(a) - sum(b) ||
    a.victims.length - b.victims.length ||
    begun(b) - begun(a)
  );
}

function moreImportantFirst(a: Pod, b: Pod): number {
  return priorityOf(b) - priorityOf(a) || startOf(a) - startOf(b);
}

function priorityOf(pod: Pod | undefined): number {
  return pod?.spec.priority ?? 0;
}

function startOf(pod: Pod): number {
  return Date.parse(pod.status?.startTime ?? "") || 0;
}

function uidOf(pod: Pod): string {
  return pod.metadata.uid ?? "";
}
