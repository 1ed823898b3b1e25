import { replicaSets, type Condition, type Pod, type ReplicaSet } from "@polyvirt/api/k8s";
import { describeError } from "@polyvirt/core";
import type { Controller, Informer, ReconcileResult } from "@polyvirt/kube";
import { rfc3339 } from "../kubelet/pod-status.ts";
import { Expectations } from "./expectations.ts";
import { createObjectController, updateStatus, type ControllerDependencies } from "./object-controller.ts";
import { PodControl } from "./pod-control.ts";
import { podFromTemplate } from "./pod-template.ts";
import { planReplicaSet, replicaSetStatus } from "./replica-set-plan.ts";

interface ReplicaSetControllerOptions extends ControllerDependencies {
  readonly replicaSets: Informer<ReplicaSet>;
  /** With the index `owner`. */
  readonly pods: Informer<Pod>;
}

/** Keeps as many pods as each ReplicaSet wants. */
export function createReplicaSetController(options: ReplicaSetControllerOptions): Controller {
  const { client, clock } = options;
  const expectations = new Expectations(clock);
  const control = new PodControl({ ...options, expectations });

  const reconcile = async (replicaSet: ReplicaSet, key: string): Promise<ReconcileResult> => {
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
    await report(replicaSet, owned(), failure);
    if (failure !== undefined) throw failure.error;
    return availabilityWait(replicaSet, owned());
  };

  const report = async (
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
    await updateStatus(client, replicaSets, replicaSet, { conditions: null, ...status });
  };

  /** A pod that is ready but not yet for long enough becomes available without any change to it. */
  const availabilityWait = (replicaSet: ReplicaSet, owned: readonly Pod[]): { requeueAfterMs?: number } => {
    const seconds = replicaSet.spec.minReadySeconds ?? 0;
    const status = replicaSetStatus(replicaSet, owned, clock.now());
    return seconds > 0 && status.availableReplicas !== status.readyReplicas ? { requeueAfterMs: seconds * 1000 } : {};
  };

  const { replicaSets: objects, pods } = options;
  return createObjectController(
    { name: "replicaset", type: replicaSets, objects, owned: [pods], expectations, reconcile },
    options,
  );
}
