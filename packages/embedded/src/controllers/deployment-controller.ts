import { deployments, replicaSets, type Deployment, type ReplicaSet } from "@polyvirt/api/k8s";
import type { Controller, Informer, ReconcileResult } from "@polyvirt/kube";
import {
  findCurrent,
  planDeployment,
  replicasOf,
  revisionAnnotation,
  revisionOf,
  type DeploymentAction,
} from "./deployment-plan.ts";
import { deploymentStatus, progressDeadline } from "./deployment-status.ts";
import {
  createObjectController,
  deleteExactly,
  unless,
  updateStatus,
  type ControllerDependencies,
} from "./object-controller.ts";
import { isControlledBy } from "./pod-template.ts";

interface DeploymentControllerOptions extends ControllerDependencies {
  readonly deployments: Informer<Deployment>;
  /** With the index `owner`. */
  readonly replicaSets: Informer<ReplicaSet>;
}

/** Turns each Deployment into ReplicaSets and rolls from one to the next. */
export function createDeploymentController(options: DeploymentControllerOptions): Controller {
  const { client, clock, events } = options;

  const act = async (deployment: Deployment, action: DeploymentAction): Promise<void> => {
    const { name = "", namespace } = action.replicaSet.metadata;
    switch (action.kind) {
      case "create":
        return createReplicaSet(deployment, action.replicaSet);
      case "scale": {
        const direction = action.replicas > replicasOf(action.replicaSet) ? "up" : "down";
        const body = {
          metadata: { resourceVersion: action.replicaSet.metadata.resourceVersion },
          spec: { replicas: action.replicas },
        };
        await client.patch(replicaSets, name, namespace, { type: "merge", body });
        const message = `Scaled ${direction} replica set ${name} from ${replicasOf(action.replicaSet)} to ${action.replicas}`;
        return events.record(deployment, "Normal", "ScalingReplicaSet", message);
      }
      case "annotate": {
        const body = { metadata: { annotations: { [revisionAnnotation]: String(action.revision) } } };
        await client.patch(replicaSets, name, namespace, { type: "merge", body });
        return;
      }
      case "delete":
        await deleteExactly(client, replicaSets, action.replicaSet);
        return;
    }
  };

  const createReplicaSet = async (deployment: Deployment, replicaSet: ReplicaSet): Promise<void> => {
    if (!(await unless(["KubeAlreadyExists"], client.create(replicaSets, replicaSet)))) {
      const { name = "", namespace } = replicaSet.metadata;
      const existing = await client.get(replicaSets, name, namespace);
      // Ours already: the cache will show it. Another one with the same hash: choose another name.
      if (isControlledBy(existing, deployment) && findCurrent(deployment, [existing]) !== undefined) return;
      const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
      await updateStatus(client, deployments, deployment, { collisionCount });
      return;
    }
    const message = `Scaled up replica set ${replicaSet.metadata.name} from 0 to ${replicasOf(replicaSet)}`;
    events.record(deployment, "Normal", "ScalingReplicaSet", message);
  };

  const report = async (deployment: Deployment, owned: readonly ReplicaSet[]): Promise<number | undefined> => {
    const { name = "", namespace } = deployment.metadata;
    const current = findCurrent(deployment, owned);
    const revision = current === undefined ? undefined : String(revisionOf(current));
    if (revision !== undefined && deployment.metadata.annotations?.[revisionAnnotation] !== revision) {
      const body = { metadata: { annotations: { [revisionAnnotation]: revision } } };
      await client.patch(deployments, name, namespace, { type: "merge", body });
    }
    const status = deploymentStatus(deployment, owned, clock.now());
    await updateStatus(client, deployments, deployment, status);
    return progressDeadline(deployment, status);
  };

  const { deployments: objects, replicaSets: owned } = options;
  const reconcile = async (deployment: Deployment): Promise<ReconcileResult> => {
    const sets = owned.byIndex("owner", deployment.metadata.uid ?? "");
    for (const action of planDeployment(deployment, sets)) await act(deployment, action);
    const deadline = await report(deployment, sets);
    return deadline === undefined ? {} : { requeueAfterMs: Math.max(1000, deadline - clock.now()) };
  };
  return createObjectController({ name: "deployment", type: deployments, objects, owned: [owned], reconcile }, options);
}
