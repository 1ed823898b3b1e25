import type { Condition, Pod, ReplicaSet } from "@polyvirt/api/k8s";
import { isPodAvailable, isPodLive, isPodReady } from "./pod-readiness.ts";

export interface ReplicaSetPlan {
  readonly create: number;
  readonly remove: readonly Pod[];
}

/** How to get from the pods that a ReplicaSet owns to as many as it wants. */
export function planReplicaSet(replicaSet: ReplicaSet, owned: readonly Pod[]): ReplicaSetPlan {
  if (replicaSet.metadata.deletionTimestamp !== undefined) return { create: 0, remove: [] };
  const live = owned.filter(isPodLive);
  const difference = (replicaSet.spec.replicas ?? 1) - live.length;
  if (difference >= 0) return { create: difference, remove: [] };
  return { create: 0, remove: [...live].sort(lessValuableFirst).slice(0, -difference) };
}

/** Unassigned, then pending, then unready, then the youngest go first. */
function lessValuableFirst(a: Pod, b: Pod): number {
  const rank = (pod: Pod): number =>
    (pod.spec.nodeName === undefined ? 0 : 4) + (pod.status?.phase === "Running" ? 2 : 0) + (isPodReady(pod) ? 1 : 0);
  return (
    rank(a) - rank(b) || createdAt(b) - createdAt(a) || ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1)
  );
}

function createdAt(pod: Pod): number {
  return Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
}

export function replicaSetStatus(
  replicaSet: ReplicaSet,
  owned: readonly Pod[],
  now: number,
  failure?: Condition,
): NonNullable<ReplicaSet["status"]> {
  const live = owned.filter(isPodLive);
  const wanted = Object.entries(replicaSet.spec.template?.metadata?.labels ?? {});
  const available = live.filter((pod) => isPodAvailable(pod, replicaSet.spec.minReadySeconds ?? 0, now));
  return {
    replicas: live.length,
    fullyLabeledReplicas: live.filter((pod) => wanted.every(([key, value]) => pod.metadata.labels?.[key] === value))
      .length,
    readyReplicas: live.filter(isPodReady).length,
    availableReplicas: available.length,
    observedGeneration: replicaSet.metadata.generation ?? 0,
    ...(failure === undefined ? {} : { conditions: [failure] }),
  };
}
