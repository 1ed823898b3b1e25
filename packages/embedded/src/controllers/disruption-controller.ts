import { podDisruptionBudgets, type Pod, type PodDisruptionBudget, type ReplicaSet } from "@polyvirt/api/k8s";
import { keyOf, type Controller, type Informer } from "@polyvirt/kube";
import { matchesSelector } from "../scheduler/label-match.ts";
import { budgetStatus } from "./disruption-plan.ts";
import { createObjectController, updateStatus, type ControllerDependencies } from "./object-controller.ts";

interface DisruptionControllerOptions extends ControllerDependencies {
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly pods: Informer<Pod>;
  readonly replicaSets: Informer<ReplicaSet>;
}

/** Keeps count of how many pods of each budget may be evicted, which is what `kubectl drain` is bound by. */
export function createDisruptionController(options: DisruptionControllerOptions): Controller {
  const { client, clock, budgets, pods, replicaSets } = options;
  const replicaSet = (uid: string): ReplicaSet | undefined =>
    replicaSets.list().find(({ metadata }) => metadata.uid === uid);
  const controller = createObjectController(
    {
      name: "disruption",
      type: podDisruptionBudgets,
      objects: budgets,
      async reconcile(budget) {
        const { status, againAt } = budgetStatus(budget, pods.list(), replicaSet, clock.now());
        // A merge patch takes entries away by null only.
        const gone = Object.fromEntries(Object.keys(budget.status?.disruptedPods ?? {}).map((name) => [name, null]));
        const disruptedPods = { ...gone, ...status.disruptedPods };
        await updateStatus(client, podDisruptionBudgets, budget, { ...status, disruptedPods });
        return againAt === undefined ? {} : { requeueAfterMs: Math.max(1, againAt - clock.now()) };
      },
    },
    options,
  );
  const enqueueBudgetsOf = (pod: Pod): void => {
    for (const budget of budgets.list()) {
      const same = budget.metadata.namespace === pod.metadata.namespace;
      if (same && matchesSelector(budget.spec?.selector, pod.metadata.labels)) controller.enqueue(keyOf(budget));
    }
  };
  pods.on({ onSet: enqueueBudgetsOf, onDelete: enqueueBudgetsOf });
  return controller;
}
