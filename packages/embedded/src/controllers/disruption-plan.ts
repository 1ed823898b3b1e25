import type { Pod, PodDisruptionBudget, ReplicaSet } from "@polyvirt/api/k8s";
import { matchesSelector } from "../scheduler/label-match.ts";
import { isPodLive, isPodReady, resolveIntOrPercent } from "./pod-readiness.ts";
import { controllerOf } from "./pod-template.ts";

type BudgetStatus = NonNullable<PodDisruptionBudget["status"]>;

/** An eviction that was granted is counted for this long, or until its pod is seen to go. */
const grantedMs = 120_000;

/** How many pods of a budget may be disrupted now. Pure. */
export function budgetStatus(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  replicaSet: (uid: string) => ReplicaSet | undefined,
  now: number,
): { status: BudgetStatus; againAt?: number } {
  const selected = pods.filter(
    (pod) =>
      pod.metadata.namespace === budget.metadata.namespace &&
      isPodLive(pod) &&
      matchesSelector(budget.spec?.selector, pod.metadata.labels),
  );
  const granted = grantedEvictions(budget, selected, now);
  const healthy = selected.filter((pod) => isPodReady(pod) && granted[pod.metadata.name ?? ""] === undefined).length;
  const expected = expectedPods(budget, selected, replicaSet);
  const desired = desiredHealthy(budget, expected);
  const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
  const times = Object.values(granted).map((time) => Date.parse(time) + grantedMs);
  return {
    status: {
      observedGeneration: budget.metadata.generation ?? 0,
      disruptionsAllowed: allowed,
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      disruptedPods: granted,
    },
    ...(times.length === 0 ? {} : { againAt: Math.min(...times) }),
  };
}

function grantedEvictions(budget: PodDisruptionBudget, live: readonly Pod[], now: number): Record<string, string> {
  const names = new Set(live.map(({ metadata }) => metadata.name));
  return Object.fromEntries(
    Object.entries(budget.status?.disruptedPods ?? {}).filter(
      ([name, time]) => names.has(name) && Date.parse(time) + grantedMs > now,
    ),
  );
}

/** A share is one of what the pods' owners want, not of what happens to be there. */
function expectedPods(
  { spec }: PodDisruptionBudget,
  selected: readonly Pod[],
  replicaSet: (uid: string) => ReplicaSet | undefined,
): number {
  if (spec?.maxUnavailable === undefined && typeof spec?.minAvailable === "number") return selected.length;
  const owners = new Map<string, number>();
  let alone = 0;
  for (const pod of selected) {
    const uid = controllerOf(pod)?.uid;
    const wanted = uid === undefined ? undefined : replicaSet(uid)?.spec.replicas;
    if (uid === undefined || wanted === undefined) alone++;
    else owners.set(uid, wanted);
  }
  return [...owners.values()].reduce((sum, wanted) => sum + wanted, alone);
}

function desiredHealthy({ spec }: PodDisruptionBudget, expected: number): number {
  if (spec?.maxUnavailable !== undefined) {
    return Math.max(0, expected - resolveIntOrPercent(spec.maxUnavailable, expected, "up", 0));
  }
  return resolveIntOrPercent(spec?.minAvailable, expected, "up", 1);
}
