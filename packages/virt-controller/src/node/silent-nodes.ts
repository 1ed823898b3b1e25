import { annotations, nodeLabels } from "@polyvirt/api";
import { nodes, type Node } from "@polyvirt/api/k8s";
import type { Clock, Logger } from "@polyvirt/core";
import type { EventRecorder, Informer, KubeClient, ReconcileResult } from "@polyvirt/kube";

export interface SilentNodesDeps {
  readonly client: Pick<KubeClient, "patch">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly nodes: Pick<Informer<Node>, "get">;
}

/** An agent that has said nothing for this long cannot be relied upon; it speaks every minute. */
const SILENCE_LIMIT_MS = 5 * 60_000;

/**
 * Takes guests' trust away from a node whose virt-handler is silent, if and only if the node still says that it takes
 * guests. The agent gives it back itself when it returns.
 */
export function createSilentNodeReconciler(deps: SilentNodesDeps): {
  reconcile(key: string): Promise<ReconcileResult>;
} {
  return {
    async reconcile(key) {
      const node = deps.nodes.get(key);
      if (node?.metadata.labels?.[nodeLabels.schedulable] !== "true") return {};
      const remaining = remainingMs(node, deps.clock.now());
      // Without a time of its own a node was labelled by hand, and by hand it is taken back.
      if (remaining === undefined) return {};
      if (remaining > 0) return { requeueAfterMs: remaining };
      const { name = "" } = node.metadata;
      const body = { metadata: { labels: { [nodeLabels.schedulable]: "false" } } };
      await deps.client.patch(nodes, name, undefined, { type: "merge", body });
      const message = `virt-handler of this node has been silent for ${SILENCE_LIMIT_MS / 60_000} minutes; it gets no new guests`;
      deps.logger.warn("a node's agent is silent", { node: name });
      deps.recorder.record(node, "Warning", "NodeUnresponsive", message);
      return {};
    },
  };
}

function remainingMs({ metadata }: Node, now: number): number | undefined {
  const spoke = Date.parse(metadata.annotations?.[annotations.heartbeat] ?? "");
  return Number.isNaN(spoke) ? undefined : spoke + SILENCE_LIMIT_MS - now;
}
