import type { Deployment, ReplicaSet } from "@polyvirt/api/k8s";
import { canonicalJson, controllerReference, templateHash } from "./pod-template.ts";
import { resolveIntOrPercent } from "./pod-readiness.ts";

export const hashLabel = "pod-template-hash";
export const revisionAnnotation = "deployment.kubernetes.io/revision";

export type DeploymentAction =
  | { readonly kind: "create"; readonly replicaSet: ReplicaSet }
  | { readonly kind: "scale"; readonly replicaSet: ReplicaSet; readonly replicas: number }
  | { readonly kind: "annotate"; readonly replicaSet: ReplicaSet; readonly revision: number }
  | { readonly kind: "delete"; readonly replicaSet: ReplicaSet };

/** What brings the ReplicaSets of a Deployment closer to its template and replica count. Pure. */
export function planDeployment(deployment: Deployment, owned: readonly ReplicaSet[]): DeploymentAction[] {
  if (deployment.metadata.deletionTimestamp !== undefined) return [];
  const current = findCurrent(deployment, owned);
  const older = owned.filter((candidate) => candidate !== current);
  const wanted = deployment.spec.replicas ?? 1;
  if (deployment.spec.paused === true) return planScaling(current, older, wanted);
  const revision = Math.max(0, ...older.map(revisionOf)) + 1;
  if (current === undefined) {
    const replicas = firstReplicas(deployment, older, wanted);
    return [{ kind: "create", replicaSet: newReplicaSet(deployment, replicas, revision) }];
  }
  const actions: DeploymentAction[] = [];
  if (revisionOf(current) < revision) actions.push({ kind: "annotate", replicaSet: current, revision });
  const recreate = deployment.spec.strategy?.type === "Recreate";
  actions.push(...(recreate ? planRecreate(current, older, wanted) : planRolling(deployment, current, older, wanted)));
  return [...actions, ...planHistory(deployment, older)];
}

/** The ReplicaSet whose template is the Deployment's, the hash label aside. */
export function findCurrent(deployment: Deployment, owned: readonly ReplicaSet[]): ReplicaSet | undefined {
  const wanted = canonicalJson(deployment.spec.template);
  return owned.find((candidate) => {
    const template = candidate.spec.template;
    if (template === undefined) return false;
    const { [hashLabel]: _hash, ...labels } = template.metadata?.labels ?? {};
    return canonicalJson({ ...template, metadata: { ...template.metadata, labels } }) === wanted;
  });
}

export function revisionOf(replicaSet: ReplicaSet): number {
  return Number(replicaSet.metadata.annotations?.[revisionAnnotation] ?? 0);
}

export function replicasOf(replicaSet: ReplicaSet): number {
  return replicaSet.spec.replicas ?? 1;
}

function newReplicaSet(deployment: Deployment, replicas: number, revision: number): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount ?? 0);
  const { namespace } = deployment.metadata;
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      annotations: { ...ownAnnotations(deployment), [revisionAnnotation]: String(revision) },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
    },
  };
}

function ownAnnotations({ metadata }: Deployment): Record<string, string> {
  const { "kubectl.kubernetes.io/last-applied-configuration": _applied, ...rest } = metadata.annotations ?? {};
  return rest;
}

function limits(deployment: Deployment, wanted: number): { surge: number; unavailable: number } {
  const rolling = deployment.spec.strategy?.rollingUpdate;
  const surge = resolveIntOrPercent(rolling?.maxSurge, wanted, "up", "25%");
  const unavailable = resolveIntOrPercent(rolling?.maxUnavailable, wanted, "down", "25%");
  // Both zero would never move.
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

function firstReplicas(deployment: Deployment, older: readonly ReplicaSet[], wanted: number): number {
  const existing = older.reduce((sum, replicaSet) => sum + replicasOf(replicaSet), 0);
  if (existing === 0) return wanted;
  if (deployment.spec.strategy?.type === "Recreate") return 0;
  return Math.max(0, Math.min(wanted, wanted + limits(deployment, wanted).surge - existing));
}

function planScaling(
  current: ReplicaSet | undefined,
  older: readonly ReplicaSet[],
  wanted: number,
): DeploymentAction[] {
  const active = [current, ...older].filter((replicaSet) => replicaSet !== undefined && replicasOf(replicaSet) > 0);
  const only = active.length === 1 ? active[0] : undefined;
  return only === undefined || replicasOf(only) === wanted
    ? []
    : [{ kind: "scale", replicaSet: only, replicas: wanted }];
}

function planRecreate(current: ReplicaSet, older: readonly ReplicaSet[], wanted: number): DeploymentAction[] {
  const toEnd = older.filter((replicaSet) => replicasOf(replicaSet) > 0);
  if (toEnd.length > 0) return toEnd.map((replicaSet) => ({ kind: "scale", replicaSet, replicas: 0 }));
  if (older.some((replicaSet) => (replicaSet.status?.replicas ?? 0) > 0)) return [];
  return replicasOf(current) === wanted ? [] : [{ kind: "scale", replicaSet: current, replicas: wanted }];
}

function planRolling(
  deployment: Deployment,
  current: ReplicaSet,
  older: readonly ReplicaSet[],
  wanted: number,
): DeploymentAction[] {
  const { surge, unavailable } = limits(deployment, wanted);
  const actions: DeploymentAction[] = [];
  const olderTotal = older.reduce((sum, replicaSet) => sum + replicasOf(replicaSet), 0);
  const grown =
    olderTotal === 0 ? wanted : Math.min(wanted, Math.max(replicasOf(current), wanted + surge - olderTotal));
  if (grown !== replicasOf(current)) actions.push({ kind: "scale", replicaSet: current, replicas: grown });
  let removable = removableReplicas(current, older, wanted - unavailable);
  for (const replicaSet of [...older].sort(unhealthiestFirst)) {
    const less = Math.min(replicasOf(replicaSet), removable.of(replicaSet));
    if (less <= 0) continue;
    actions.push({ kind: "scale", replicaSet, replicas: replicasOf(replicaSet) - less });
    removable = removable.after(replicaSet, less);
  }
  return actions;
}

/** Pods that do not serve may always go; of those that do, only as many as leave `minimum` serving. */
function removableReplicas(
  current: ReplicaSet,
  older: readonly ReplicaSet[],
  minimum: number,
): {
  of(replicaSet: ReplicaSet): number;
  after(replicaSet: ReplicaSet, less: number): ReturnType<typeof removableReplicas>;
} {
  const available = (replicaSet: ReplicaSet): number =>
    Math.min(replicaSet.status?.availableReplicas ?? 0, replicasOf(replicaSet));
  const total = [current, ...older].reduce((sum, replicaSet) => sum + available(replicaSet), 0);
  const budget = (spare: number): ReturnType<typeof removableReplicas> => ({
    of: (replicaSet) =>
      replicasOf(replicaSet) - available(replicaSet) + Math.min(available(replicaSet), Math.max(0, spare)),
    after: (replicaSet, less) => budget(spare - Math.max(0, less - (replicasOf(replicaSet) - available(replicaSet)))),
  });
  return budget(total - minimum);
}

function unhealthiestFirst(a: ReplicaSet, b: ReplicaSet): number {
  return (a.status?.availableReplicas ?? 0) - (b.status?.availableReplicas ?? 0) || revisionOf(a) - revisionOf(b);
}

function planHistory(deployment: Deployment, older: readonly ReplicaSet[]): DeploymentAction[] {
  const idle = older
    .filter((replicaSet) => replicasOf(replicaSet) === 0 && (replicaSet.status?.replicas ?? 0) === 0)
    .sort((a, b) => revisionOf(b) - revisionOf(a));
  return idle.slice(deployment.spec.revisionHistoryLimit ?? 10).map((replicaSet) => ({ kind: "delete", replicaSet }));
}
