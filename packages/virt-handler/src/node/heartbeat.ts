import { annotations, nodeLabels } from "@polyvirt/api";
import { nodes, type Condition, type Node } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { labelChange } from "./labeller/label-change.ts";

/** What the node is to show, as it is now. */
export interface NodeReport {
  /** Labels by which launcher pods select. */
  readonly labels: Readonly<Record<string, string>>;
  readonly condition: Pick<Condition, "type" | "status" | "reason" | "message">;
}

export interface HeartbeatDeps {
  readonly client: Pick<KubeClient, "get" | "patch">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly report: () => NodeReport;
}

export interface Heartbeat {
  /** Says that guests may be scheduled to this node until the signal is aborted, and takes it back then. */
  run(signal: AbortSignal): Promise<void>;
  /** Something that is reported has changed: do not wait for the next beat. */
  wake(): void;
}

const INTERVAL_MS = 60_000;
/** Nodes that were started together must not all write in the same second. */
const SPREAD = 0.2;
const RETRY_MS = 2_000;

export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  const { clock, logger } = deps;
  let woken = new AbortController();
  return {
    wake: () => woken.abort(),
    async run(signal) {
      while (!signal.aborted) {
        woken = new AbortController();
        let delayMs = INTERVAL_MS * (1 + Math.random() * SPREAD);
        try {
          await beat(deps);
        } catch (error) {
          delayMs = RETRY_MS;
          logger.warn("the node could not be labelled and will be tried again", { error: describeError(error) });
        }
        await clock.sleep(delayMs, AbortSignal.any([signal, woken.signal])).catch(() => {});
      }
      await patchMetadata(deps, { [nodeLabels.schedulable]: "false" }).catch((error: unknown) =>
        logger.warn("the node could not be marked as unschedulable for guests", { error: describeError(error) }),
      );
    },
  };
}

async function beat(deps: HeartbeatDeps): Promise<void> {
  const node = await deps.client.get(nodes, deps.nodeName);
  const { labels, condition } = deps.report();
  const skipped = node.metadata.annotations?.[annotations.skipNodeLabeller] !== undefined;
  const change = skipped ? {} : labelChange(node.metadata.labels ?? {}, labels);
  // One write: whoever sees that the node takes guests also sees which.
  await patchMetadata(deps, { ...change, [nodeLabels.schedulable]: "true" });
  await patchCondition(deps, node, condition);
}

async function patchMetadata(
  { client, clock, nodeName }: HeartbeatDeps,
  labels: Readonly<Record<string, string | null>>,
): Promise<void> {
  const body = { metadata: { labels, annotations: { [annotations.heartbeat]: timestamp(clock) } } };
  await client.patch(nodes, nodeName, undefined, { type: "merge", body });
}

async function patchCondition(
  { client, clock, nodeName }: HeartbeatDeps,
  { status }: Node,
  wanted: NodeReport["condition"],
): Promise<void> {
  const known = status?.conditions?.find(({ type }) => type === wanted.type);
  const same = known?.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message;
  if (same) return;
  const now = timestamp(clock);
  const since = known?.status === wanted.status ? (known.lastTransitionTime ?? now) : now;
  const condition = { ...wanted, lastTransitionTime: since, lastHeartbeatTime: now };
  // Strategic: conditions are merged by type, so that the kubelet's own stay as they are.
  const body = { status: { conditions: [condition] } };
  await client.patch(nodes, nodeName, undefined, { type: "strategic", body, subresource: "status" });
}

function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
}
