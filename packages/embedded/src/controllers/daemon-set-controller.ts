import { controllerRevisions, daemonSets, type DaemonSet, type Node, type Pod } from "@polyvirt/api/k8s";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import {
  createController,
  keyOf,
  type Controller,
  type EventRecorder,
  type Informer,
  type KubeClient,
} from "@polyvirt/kube";
import { daemonPod, daemonSetStatus, planDaemonSet, revisionLabel } from "./daemon-set-plan.ts";
import { Expectations } from "./expectations.ts";
import { PodControl } from "./pod-control.ts";
import { controllerOf, controllerReference, templateHash } from "./pod-template.ts";

interface DaemonSetControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly daemonSets: Informer<DaemonSet>;
  readonly nodes: Informer<Node>;
  /** With the index `owner`. */
  readonly pods: Informer<Pod>;
}

/** Keeps one pod of each DaemonSet on each node that it belongs on. */
export function createDaemonSetController(options: DaemonSetControllerOptions): Controller {
  const { client, clock, logger } = options;
  const expectations = new Expectations(clock);
  const control = new PodControl({ ...options, expectations });
  /** UID and hash of the revisions known to be recorded. */
  const recorded = new Set<string>();

  const controller = createController({
    name: "daemonset",
    clock,
    logger,
    async reconcile(key) {
      const found = options.daemonSets.get(key);
      if (found === undefined || !expectations.isSettled(key))
        return found === undefined ? {} : { requeueAfterMs: 1000 };
      const daemonSet: DaemonSet = { ...found, apiVersion: "apps/v1", kind: "DaemonSet" };
      const revision = templateHash(daemonSet.spec.template);
      await recordRevision(daemonSet, revision);
      const owned = options.pods.byIndex("owner", daemonSet.metadata.uid ?? "");
      const nodes = options.nodes.list();
      const plan = planDaemonSet(daemonSet, nodes, owned, revision, clock.now());
      for (const node of plan.create) await control.create(daemonSet, key, daemonPod(daemonSet, node, revision));
      for (const pod of plan.remove) await control.delete(daemonSet, key, pod);
      const status = daemonSetStatus(daemonSet, nodes, owned, revision, clock.now());
      const { name = "", namespace } = daemonSet.metadata;
      const { collisionCount: _collisions, conditions: _conditions, ...before } = daemonSet.status ?? {};
      if (!sameStatus(status, before)) {
        await client.patch(daemonSets, name, namespace, { type: "merge", subresource: "status", body: { status } });
      }
      const waiting = (daemonSet.spec.minReadySeconds ?? 0) > 0 && status.numberAvailable !== status.numberReady;
      return waiting ? { requeueAfterMs: (daemonSet.spec.minReadySeconds ?? 1) * 1000 } : {};
    },
  });

  /** The history that `kubectl rollout history` and `undo` read. */
  const recordRevision = async (daemonSet: DaemonSet, hash: string): Promise<void> => {
    const { name = "", namespace, uid } = daemonSet.metadata;
    if (recorded.has(`${uid}/${hash}`)) return;
    const { items } = await client.list(controllerRevisions, namespace === undefined ? {} : { namespace });
    const owned = items.filter((item) => controllerOf(item)?.uid === uid);
    const latest = Math.max(0, ...owned.map((item) => item.revision));
    const existing = owned.find((item) => item.metadata.name === `${name}-${hash}`);
    if (existing === undefined) {
      await client
        .create(controllerRevisions, {
          metadata: {
            name: `${name}-${hash}`,
            ...(namespace === undefined ? {} : { namespace }),
            labels: { ...daemonSet.spec.template.metadata?.labels, [revisionLabel]: hash },
            ownerReferences: [controllerReference(daemonSet)],
          },
          data: { spec: { template: { ...daemonSet.spec.template, $patch: "replace" } } },
          revision: latest + 1,
        })
        .catch((error: unknown) => {
          if (!hasCode(error, "KubeAlreadyExists")) throw error;
        });
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

  const enqueueAll = (): void => {
    for (const daemonSet of options.daemonSets.list()) controller.enqueue(keyOf(daemonSet));
  };
  options.daemonSets.on({ onSet: (daemonSet) => controller.enqueue(keyOf(daemonSet)) });
  options.nodes.on({
    onSet: (node, old) => {
      const relevant = (value: Node): string => JSON.stringify([value.metadata.labels, value.spec]);
      if (old === undefined || relevant(node) !== relevant(old)) enqueueAll();
    },
    onDelete: enqueueAll,
  });
  const enqueueOwner = (pod: Pod): void => {
    const owner = controllerOf(pod);
    if (owner?.kind === "DaemonSet") controller.enqueue(`${pod.metadata.namespace}/${owner.name}`);
  };
  options.pods.on({ onSet: enqueueOwner, onDelete: enqueueOwner });
  return controller;
}

function sameStatus(a: object, b: object): boolean {
  const text = (object: object): string =>
    JSON.stringify(Object.entries(object).sort(([left], [right]) => (left < right ? -1 : 1)));
  return text(a) === text(b);
}
