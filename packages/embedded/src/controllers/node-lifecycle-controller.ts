import { nodes as nodeResource, pods as podResource, type Lease, type Node, type Pod } from "@polyvirt/api/k8s";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import {
  createController,
  keyOf,
  type Controller,
  type EventRecorder,
  type Informer,
  type KubeClient,
} from "@polyvirt/kube";
import { judgeNode, planEviction } from "./node-lifecycle-plan.ts";

interface NodeLifecycleControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly nodes: Informer<Node>;
  readonly leases: Informer<Lease>;
  /** With the index `node`. */
  readonly pods: Informer<Pod>;
}

const strandedMs = 40_000;

/** Notices silent nodes, taints them, marks their pods as not ready and evicts those that do not tolerate it. */
export function createNodeLifecycleController(options: NodeLifecycleControllerOptions): Controller {
  const { client, clock, logger, events } = options;
  const startedAt = clock.now();
  const missingSince = new Map<string, number>();

  const markPodsUnready = async (nodeName: string): Promise<void> => {
    for (const pod of options.pods.byIndex("node", nodeName)) {
      const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status !== "True") continue;
      const { name = "", namespace } = pod.metadata;
      const condition = {
        ...ready,
        status: "False",
        lastTransitionTime: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z"),
      };
      const body = { status: { conditions: [condition] } };
      await client.patch(podResource, name, namespace, { type: "strategic", subresource: "status", body });
    }
  };

  const evict = async (node: Node): Promise<number | undefined> => {
    const name = node.metadata.name ?? "";
    const plan = planEviction(node, options.pods.byIndex("node", name), clock.now());
    for (const pod of plan.evict) {
      const { uid, namespace } = pod.metadata;
      events.record(
        { ...pod, apiVersion: "v1", kind: "Pod" },
        "Normal",
        "TaintManagerEviction",
        `Marking for deletion Pod ${namespace}/${pod.metadata.name}`,
      );
      await client
        .delete(podResource, pod.metadata.name ?? "", namespace, uid === undefined ? {} : { preconditions: { uid } })
        .catch((error: unknown) => {
          if (!hasCode(error, "KubeNotFound") && !hasCode(error, "KubeConflict")) throw error;
        });
    }
    return plan.againAt;
  };

  /** Pods of a node that does not exist have nobody who could end them; the node gets a while to come (back). */
  const removeStranded = async (name: string): Promise<{ requeueAfterMs?: number }> => {
    const stranded = options.pods.byIndex("node", name);
    if (stranded.length === 0) return {};
    const since = missingSince.get(name) ?? clock.now();
    missingSince.set(name, since);
    const left = since + strandedMs - clock.now();
    if (left > 0) return { requeueAfterMs: left };
    for (const { metadata } of stranded) {
      const preconditions = metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } };
      await client
        .delete(podResource, metadata.name ?? "", metadata.namespace, { gracePeriodSeconds: 0, ...preconditions })
        .catch((error: unknown) => {
          if (!hasCode(error, "KubeNotFound") && !hasCode(error, "KubeConflict")) throw error;
        });
    }
    return {};
  };

  const controller = createController({
    name: "node-lifecycle",
    clock,
    logger,
    async reconcile(name) {
      const found = options.nodes.get(name);
      if (found === undefined) return removeStranded(name);
      missingSince.delete(name);
      const node: Node = { ...found, apiVersion: "v1", kind: "Node" };
      const lease = options.leases.get(`kube-node-lease/${name}`);
      // After a stop of the whole cluster every node was silent; each gets its full time again.
      const verdict = judgeNode(node, freshened(lease, startedAt), clock.now());
      if (verdict.conditions !== undefined) {
        const body = { status: { conditions: verdict.conditions } };
        await client.patch(nodeResource, name, undefined, { type: "strategic", subresource: "status", body });
        events.record(node, "Normal", "NodeNotReady", `Node ${name} status is now: NodeNotReady`);
        await markPodsUnready(name);
      }
      if (verdict.taints !== undefined) {
        const body = {
          metadata: { resourceVersion: node.metadata.resourceVersion },
          spec: { taints: verdict.taints.length === 0 ? null : verdict.taints },
        };
        await client.patch(nodeResource, name, undefined, { type: "merge", body });
        // The changed node comes back through the cache and is judged again.
        return {};
      }
      const evictAgain = await evict(node);
      const next = Math.min(verdict.againAt ?? Number.POSITIVE_INFINITY, evictAgain ?? Number.POSITIVE_INFINITY);
      return Number.isFinite(next) ? { requeueAfterMs: Math.max(1, next - clock.now()) } : {};
    },
  });

  options.nodes.on({
    onSet: (node) => controller.enqueue(keyOf(node)),
    onDelete: (node) => controller.enqueue(keyOf(node)),
  });
  options.leases.on({ onSet: ({ metadata }) => controller.enqueue(metadata.name ?? "") });
  options.pods.on({
    onSet: (pod, old) => {
      if (pod.spec.nodeName !== undefined && pod.spec.nodeName !== old?.spec.nodeName)
        controller.enqueue(pod.spec.nodeName);
    },
  });
  return controller;
}

function freshened(lease: Lease | undefined, startedAt: number): Lease {
  const renewed = Math.max(Date.parse(lease?.spec?.renewTime ?? "") || 0, startedAt);
  return { metadata: {}, ...lease, spec: { ...lease?.spec, renewTime: new Date(renewed).toISOString() } };
}
