import { deployments, replicaSets, type Deployment, type ReplicaSet } from "@polyvirt/api/k8s";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import {
  createController,
  keyOf,
  type Controller,
  type EventRecorder,
  type Informer,
  type KubeClient,
} from "@polyvirt/kube";
import {
  findCurrent,
  planDeployment,
  replicasOf,
  revisionAnnotation,
  revisionOf,
  type DeploymentAction,
} from "./deployment-plan.ts";
import { deploymentStatus, progressDeadline } from "./deployment-status.ts";
import { controllerOf, isControlledBy } from "./pod-template.ts";

interface DeploymentControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly deployments: Informer<Deployment>;
  /** With the index `owner`. */
  readonly replicaSets: Informer<ReplicaSet>;
}

/** Turns each Deployment into ReplicaSets and rolls from one to the next. */
export function createDeploymentController(options: DeploymentControllerOptions): Controller {
  const { client, clock, logger, events } = options;

  const act = async (deployment: Deployment, action: DeploymentAction): Promise<void> => {
    const { name = "", namespace, uid } = action.replicaSet.metadata;
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
        return client.delete(replicaSets, name, namespace, uid === undefined ? {} : { preconditions: { uid } });
    }
  };

  const createReplicaSet = async (deployment: Deployment, replicaSet: ReplicaSet): Promise<void> => {
    try {
      await client.create(replicaSets, replicaSet);
    } catch (error) {
      if (!hasCode(error, "KubeAlreadyExists")) throw error;
      const { name = "", namespace } = replicaSet.metadata;
      const existing = await client.get(replicaSets, name, namespace);
      // Ours already: the cache will show it. Another one with the same hash: choose another name.
      if (isControlledBy(existing, deployment) && findCurrent(deployment, [existing]) !== undefined) return;
      const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
      const body = { status: { collisionCount } };
      await client.patch(deployments, deployment.metadata.name ?? "", namespace, {
        type: "merge",
        subresource: "status",
        body,
      });
      return;
    }
    const message = `Scaled up replica set ${replicaSet.metadata.name} from 0 to ${replicasOf(replicaSet)}`;
    events.record(deployment, "Normal", "ScalingReplicaSet", message);
  };

  const updateStatus = async (deployment: Deployment, owned: readonly ReplicaSet[]): Promise<number | undefined> => {
    const { name = "", namespace } = deployment.metadata;
    const current = findCurrent(deployment, owned);
    const revision = current === undefined ? undefined : String(revisionOf(current));
    if (revision !== undefined && deployment.metadata.annotations?.[revisionAnnotation] !== revision) {
      const body = { metadata: { annotations: { [revisionAnnotation]: revision } } };
      await client.patch(deployments, name, namespace, { type: "merge", body });
    }
    const status = deploymentStatus(deployment, owned, clock.now());
    const { collisionCount: _collisions, ...before } = deployment.status ?? {};
    if (JSON.stringify(sorted(status)) !== JSON.stringify(sorted(before))) {
      await client.patch(deployments, name, namespace, { type: "merge", subresource: "status", body: { status } });
    }
    return progressDeadline(deployment, status);
  };

  const controller = createController({
    name: "deployment",
    clock,
    logger,
    async reconcile(key) {
      const found = options.deployments.get(key);
      if (found === undefined) return {};
      const deployment: Deployment = { ...found, apiVersion: "apps/v1", kind: "Deployment" };
      const owned = options.replicaSets.byIndex("owner", deployment.metadata.uid ?? "");
      for (const action of planDeployment(deployment, owned)) await act(deployment, action);
      const deadline = await updateStatus(deployment, owned);
      return deadline === undefined ? {} : { requeueAfterMs: Math.max(1000, deadline - clock.now()) };
    },
  });

  options.deployments.on({ onSet: (deployment) => controller.enqueue(keyOf(deployment)) });
  const enqueueOwner = (replicaSet: ReplicaSet): void => {
    const owner = controllerOf(replicaSet);
    if (owner?.kind === "Deployment") controller.enqueue(`${replicaSet.metadata.namespace}/${owner.name}`);
  };
  options.replicaSets.on({ onSet: enqueueOwner, onDelete: enqueueOwner });
  return controller;
}

function sorted(object: object): [string, unknown][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}
