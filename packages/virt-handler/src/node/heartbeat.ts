import { annotations, nodeLabels } from "@polyvirt/api";
import { nodes } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";

export interface HeartbeatDeps {
  readonly client: Pick<KubeClient, "patch">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  /** Labels besides the heartbeat's own, as they are now. */
  readonly labels: () => Readonly<Record<string, string | null>>;
}

const INTERVAL_MS = 60_000;
/** Nodes that were started together must not all write in the same second. */
const SPREAD = 0.2;
const RETRY_MS = 2_000;

/** Says that guests may be scheduled to this node, for as long as the signal is not aborted, and takes it back then. */
export async function runHeartbeat(deps: HeartbeatDeps, signal: AbortSignal): Promise<void> {
  const { clock, logger } = deps;
  while (!signal.aborted) {
    let delayMs = INTERVAL_MS * (1 + Math.random() * SPREAD);
    try {
      await beat(deps, true);
    } catch (error) {
      delayMs = RETRY_MS;
      logger.warn("the node could not be labelled and will be tried again", { error: describeError(error) });
    }
    await clock.sleep(delayMs, signal).catch(() => {});
  }
  await beat(deps, false).catch((error: unknown) =>
    logger.warn("the node could not be marked as unschedulable for guests", { error: describeError(error) }),
  );
}

async function beat({ client, clock, nodeName, labels }: HeartbeatDeps, schedulable: boolean): Promise<void> {
  const body = {
    metadata: {
      labels: { ...(schedulable ? labels() : {}), [nodeLabels.schedulable]: String(schedulable) },
      annotations: { [annotations.heartbeat]: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z") },
    },
  };
  await client.patch(nodes, nodeName, undefined, { type: "merge", body });
}
