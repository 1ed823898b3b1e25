import { controllerRevisions, daemonSets, type DaemonSet, type Node, type Pod } from "@polyvirt/api/k8s";
import { keyOf, type Controller, type Informer, type ReconcileResult } from "@polyvirt/kube";
import { daemonPod, daemonSetStatus, planDaemonSet, revisionLabel } from "./daemon-set-plan.ts";
import { Expectations } from "./expectations.ts";
import { createObjectController, unless, updateStatus, type ControllerDependencies } from "./object-controller.ts";
import { PodControl } from "./pod-control.ts";
import { controllerOf, controllerReference, templateHash } from "./pod-template.ts";

interface DaemonSetControllerOptions extends ControllerDependencies {
  readonly daemonSets: Informer<DaemonSet>;
  readonly nodes: Informer<Node>;
  /** With the index `owner`. */
  readonly pods: Informer<Pod>;
}

/** Keeps one pod of each DaemonSet on each node that it belongs on. */
export function createDaemonSetController(options: DaemonSetControllerOptions): Controller {
  const { client, clock } = options;
  const expectations = new Expectations(clock);
  const control = new PodControl({ ...options, expectations });
  /** UID and hash of the revisions known to be recorded. */
  const recorded = new Set<string>();

  const reconcile = async (daemonSet: DaemonSet, key: string): Promise<ReconcileResult> => {
    const revision = templateHash(daemonSet.spec.template);
    await recordRevision(daemonSet, revision);
    const owned = options.pods.byIndex("owner", daemonSet.metadata.uid ?? "");
    const nodes = options.nodes.list();
    const plan = planDaemonSet(daemonSet, nodes, owned, revision, clock.now());
    for (const node of plan.create) await control.create(daemonSet, key, daemonPod(daemonSet, node, revision));
    for (const pod of plan.remove) await control.delete(daemonSet, key, pod);
    const status = daemonSetStatus(daemonSet, nodes, owned, revision, clock.now());
    await updateStatus(client, daemonSets, daemonSet, status);
    const waiting = (daemonSet.spec.minReadySeconds ?? 0) > 0 && status.numberAvailable !== status.numberReady;
    return waiting ? { requeueAfterMs: (daemonSet.spec.minReadySeconds ?? 1) * 1000 } : {};
  };

  /** The history that `kubectl rollout history` and `undo` read. */
  const recordRevision = async (daemonSet: DaemonSet, hash: string): Promise<void> => {
    const { name = "", namespace, uid } = daemonSet.metadata;
    if (recorded.has(`${uid}/${hash}`)) return;
    const { items } = await client.list(controllerRevisions, namespace === undefined ? {} : { namespace });
    const owned = items.filter((item) => controllerOf(item)?.uid === uid);
    const latest = Math.max(0, ...owned.map((item) => item.revision));
    const existing = owned.find((item) => item.metadata.name === `${name}-${hash}`);
    if (existing === undefined) {
      const revision = {
        metadata: {
          name: `${name}-${hash}`,
          ...(namespace === undefined ? {} : { namespace }),
          labels: { ...daemonSet.spec.template.metadata?.labels, [revisionLabel]: hash },
          ownerReferences: [controllerReference(daemonSet)],
        },
        data: { spec: { template: { ...daemonSet.spec.template, $patch: "replace" } } },
        revision: latest + 1,
      };
      await unless(["KubeAlreadyExists"], client.create(controllerRevisions, revision));
    } else if (existing.revision < latest) {
      const body = { revision: latest + 1 };
      await client.patch(controllerRevisions, `${name}-${hash}`, namespace, { type: "merge", body });
    }
    // Only the current one is sure to be the latest.
    for (const entry of recorded) if (entry.startsWith(`${uid}/`)) recorded.delete(entry);
    recorded.add(`${uid}/${hash}`);
    const obsolete = owned.sort((a, b) => b.revision - a.revision).slice(daemonSet.spec.revisionHistoryLimit ?? 10);
    for (const { metadata } of obsolete) await client.delete(controllerRevisions, metadata.name ?? "", namespace);
  };

  const { daemonSets: objects, pods } = options;
  const controller = createObjectController(
    { name: "daemonset", type: daemonSets, objects, owned: [pods], expectations, reconcile },
    options,
  );
  const enqueueAll = (): void => {
    for (const daemonSet of objects.list()) controller.enqueue(keyOf(daemonSet));
  };
  options.nodes.on({
    onSet: (node, old) => {
      const relevant = (value: Node): string => JSON.stringify([value.metadata.labels, value.spec]);
      if (old === undefined || relevant(node) !== relevant(old)) enqueueAll();
    },
    onDelete: enqueueAll,
  });
  return controller;
}
