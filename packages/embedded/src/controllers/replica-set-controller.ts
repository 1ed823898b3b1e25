import { replicaSets, type Condition, type Pod, type ReplicaSet } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import {
  createController,
  keyOf,
  type Controller,
  type EventRecorder,
  type Informer,
  type KubeClient,
} from "@polyvirt/kube";
import { rfc3339 } from "../kubelet/pod-status.ts";
import { Expectations } from "./expectations.ts";
import { PodControl } from "./pod-control.ts";
import { controllerOf, podFromTemplate } from "./pod-template.ts";
import { planReplicaSet, replicaSetStatus } from "./replica-set-plan.ts";

interface ReplicaSetControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly replicaSets: Informer<ReplicaSet>;
  /** With the index `owner`. */
  readonly pods: Informer<Pod>;
}

/** Keeps as many pods as each ReplicaSet wants. */
export function createReplicaSetController(options: ReplicaSetControllerOptions): Controller {
  const { client, clock, logger } = options;
  const expectations = new Expectations(clock);
  const control = new PodControl({ ...options, expectations });

  const controller = createController({
    name: "replicaset",
    clock,
    logger,
    async reconcile(key) {
      const found = options.replicaSets.get(key);
      if (found === undefined || !expectations.isSettled(key))
        return found === undefined ? {} : { requeueAfterMs: 1000 };
      const replicaSet: ReplicaSet = { ...found, apiVersion: "apps/v1", kind: "ReplicaSet" };
      const owned = (): Pod[] => options.pods.byIndex("owner", replicaSet.metadata.uid ?? "");
      const plan = planReplicaSet(replicaSet, owned());
      let failure: { readonly error: unknown } | undefined;
      try {
        const template = replicaSet.spec.template ?? { spec: { containers: [] } };
        for (let index = 0; index < plan.create; index++) {
          const pod = podFromTemplate(replicaSet, template, { namePrefix: replicaSet.metadata.name ?? "" });
          await control.create(replicaSet, key, pod);
        }
        for (const pod of plan.remove) await control.delete(replicaSet, key, pod);
      } catch (error) {
        failure = { error };
      }
      await updateStatus(replicaSet, owned(), failure);
      if (failure !== undefined) throw failure.error;
      return availabilityWait(replicaSet, owned());
    },
  });

  const updateStatus = async (
    replicaSet: ReplicaSet,
    owned: readonly Pod[],
    failure: { readonly error: unknown } | undefined,
  ): Promise<void> => {
    const condition: Condition | undefined =
      failure === undefined
        ? undefined
        : {
            type: "ReplicaFailure",
            status: "True",
            reason: "FailedCreate",
            message: describeError(failure.error),
            lastTransitionTime: rfc3339(clock.now()),
          };
    const status = replicaSetStatus(replicaSet, owned, clock.now(), condition);
    if (JSON.stringify(status) === JSON.stringify(replicaSet.status)) return;
    const { name = "", namespace } = replicaSet.metadata;
    const body = { status: { conditions: null, ...status } };
    await client.patch(replicaSets, name, namespace, { type: "merge", subresource: "status", body });
  };

  /** A pod that is ready but not yet for long enough becomes available without any change to it. */
  const availabilityWait = (replicaSet: ReplicaSet, owned: readonly Pod[]): { requeueAfterMs?: number } => {
    const seconds = replicaSet.spec.minReadySeconds ?? 0;
    const status = replicaSetStatus(replicaSet, owned, clock.now());
    return seconds > 0 && status.availableReplicas !== status.readyReplicas ? { requeueAfterMs: seconds * 1000 } : {};
  };

  options.replicaSets.on({ onSet: (replicaSet) => controller.enqueue(keyOf(replicaSet)) });
  const enqueueOwner = (pod: Pod): void => {
    const owner = controllerOf(pod);
    if (owner?.kind === "ReplicaSet") controller.enqueue(`${pod.metadata.namespace}/${owner.name}`);
  };
  options.pods.on({ onSet: enqueueOwner, onDelete: enqueueOwner });
  return controller;
}
