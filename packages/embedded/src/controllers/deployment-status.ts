import type { Deployment, ReplicaSet } from "@polyvirt/api/k8s";
import { rfc3339 } from "../kubelet/pod-status.ts";
import { findCurrent } from "./deployment-plan.ts";
import { resolveIntOrPercent } from "./pod-readiness.ts";

type DeploymentStatus = NonNullable<Deployment["status"]>;
type DeploymentCondition = NonNullable<DeploymentStatus["conditions"]>[number];

/** Counts and conditions as `kubectl rollout status` and `kubectl get deployments` read them. */
export function deploymentStatus(deployment: Deployment, owned: readonly ReplicaSet[], now: number): DeploymentStatus {
  const current = findCurrent(deployment, owned);
  const sum = (pick: (status: NonNullable<ReplicaSet["status"]>) => number | undefined): number =>
    owned.reduce((total, { status }) => total + (status === undefined ? 0 : (pick(status) ?? 0)), 0);
  const wanted = deployment.spec.replicas ?? 1;
  const available = sum((status) => status.availableReplicas);
  const counts = {
    replicas: sum((status) => status.replicas),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum((status) => status.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(
      0,
      Math.max(
        wanted,
        sum((status) => status.replicas),
      ) - available,
    ),
  };
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...counts,
    conditions: conditions(deployment, current, counts, now),
  };
}

interface Counts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
}

function conditions(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  counts: Counts,
  now: number,
): DeploymentCondition[] {
  const wanted = deployment.spec.replicas ?? 1;
  const unavailable = resolveIntOrPercent(
    deployment.spec.strategy?.rollingUpdate?.maxUnavailable,
    wanted,
    "down",
    "25%",
  );
  const enough = counts.availableReplicas >= wanted - unavailable;
  const complete =
    counts.updatedReplicas === wanted && counts.replicas === wanted && counts.availableReplicas >= wanted;
  const name = current?.metadata.name ?? "";
  const before = (type: string): DeploymentCondition | undefined =>
    deployment.status?.conditions?.find((condition) => condition.type === type);
  const progressing = before("Progressing");
  const moved =
    counts.updatedReplicas !== (deployment.status?.updatedReplicas ?? 0) ||
    counts.availableReplicas !== (deployment.status?.availableReplicas ?? 0) ||
    progressing?.message?.includes(`"${name}"`) !== true;
  const since = moved ? now : Date.parse(progressing?.lastUpdateTime ?? "") || now;
  const late = !complete && now - since > (deployment.spec.progressDeadlineSeconds ?? 600) * 1000;
  const availableCondition = enough
    ? { status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : {
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
  const progressCondition = late
    ? {
        status: "False",
        reason: "ProgressDeadlineExceeded",
        message: `ReplicaSet "${name}" has timed out progressing.`,
      }
    : complete
      ? {
          status: "True",
          reason: "NewReplicaSetAvailable",
          message: `ReplicaSet "${name}" has successfully progressed.`,
        }
      : { status: "True", reason: "ReplicaSetUpdated", message: `ReplicaSet "${name}" is progressing.` };
  return [
    condition("Available", availableCondition, before("Available"), now, now),
    condition("Progressing", progressCondition, progressing, now, since),
  ];
}

function condition(
  type: string,
  facts: { status: string; reason: string; message: string },
  before: DeploymentCondition | undefined,
  now: number,
  updated: number,
): DeploymentCondition {
  const same = before?.status === facts.status;
  const unchanged = same && before.reason === facts.reason && before.message === facts.message;
  return {
    type,
    // The tables above only write True and False.
    status: facts.status as DeploymentCondition["status"],
    reason: facts.reason,
    message: facts.message,
    lastTransitionTime: (same ? before.lastTransitionTime : undefined) ?? rfc3339(now),
    lastUpdateTime: (unchanged && type === "Available" ? before.lastUpdateTime : undefined) ?? rfc3339(updated),
  };
}

/** When the progress deadline of a rollout that is under way passes. */
export function progressDeadline(deployment: Deployment, status: DeploymentStatus): number | undefined {
  const progressing = status.conditions?.find(({ type }) => type === "Progressing");
  if (progressing?.reason !== "ReplicaSetUpdated") return undefined;
  return Date.parse(progressing.lastUpdateTime ?? "") + (deployment.spec.progressDeadlineSeconds ?? 600) * 1000 + 1000;
}
