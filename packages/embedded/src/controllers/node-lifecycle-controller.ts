import { nodes as nodeResource, pods as podResource, type Lease, type Node, type Pod } from "@polyvirt/api/k8s";
import { createController, keyOf, type Controller, type Informer } from "@polyvirt/kube";
import { rfc3339 } from "../kubelet/pod-status.ts";
import { judgeNode, planEviction } from "./node-lifecycle-plan.ts";
import { deleteExactly, withKind, type ControllerDependencies } from "./object-controller.ts";

interface NodeLifecycleControllerOptions extends ControllerDependencies {
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
        lastTransitionTime: rfc3339(clock.now()),
      };
      const body = { status: { conditions: [condition] } };
      await client.patch(podResource, name, namespace, { type: "strategic", subresource: "status", body });
    }
  };

  const evict = async (node: Node): Promise<number | undefined> => {
    const name = node.metadata.name ?? "";
    const plan = planEviction(node, options.pods.byIndex("node", name), clock.now());
    for (const pod of plan.evict) {
      const message = `Marking for deletion Pod ${pod.metadata.namespace}/${pod.metadata.name}`;
      events.record(withKind(podResource, pod), "Normal", "TaintManagerEviction", message);
      await deleteExactly(client, podResource, pod);
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
    for (const pod of stranded) await deleteExactly(client, podResource, pod, { gracePeriodSeconds: 0 });
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
      const node = withKind(nodeResource, found);
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
