import {
  pods as podResource,
  type Namespace,
  type Node,
  type PersistentVolumeClaim,
  type Pod,
} from "@polyvirt/api/k8s";
import { describeError, hasCode, type Clock, type Logger, type Timer } from "@polyvirt/core";
import type { EventRecorder, Informer, KubeClient } from "@polyvirt/kube";
import { claimProblem } from "./claims.ts";
import { schedule, type Decision } from "./schedule.ts";
import { createSnapshot, isFinished, type Snapshot } from "./snapshot.ts";

interface SchedulerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<Namespace>;
  readonly claims: Informer<PersistentVolumeClaim>;
}

const schedulerName = "default-scheduler";
const retryMs = 5_000;
/** How long a binding that the cache does not show yet is counted. */
const assumedMs = 30_000;
/** Bindings sent at the same time. */
const parallel = 16;

/** Binds pods to nodes: after each change of pods or nodes, everything that waits is looked at in order of priority. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  /** UID → node of pods that were bound just now. */
  readonly #assumed = new Map<string, { nodeName: string; until: number }>();
  #wake: () => void = () => {};
  #due = true;
  #timer: Timer | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const trigger = (): void => this.#trigger();
    options.pods.on({
      onSet: (pod, old) => {
        if (pod.spec.nodeName !== undefined) this.#assumed.delete(pod.metadata.uid ?? "");
        if (isPending(pod) || (old !== undefined && isFinished(pod) !== isFinished(old))) trigger();
      },
      onDelete: (pod) => {
        this.#assumed.delete(pod.metadata.uid ?? "");
        trigger();
      },
    });
    options.nodes.on({
      onSet: (node, old) => {
        if (old === undefined || matters(node) !== matters(old)) trigger();
      },
    });
    options.claims.on({
      onSet: (claim, old) => {
        if (claim.status?.phase !== old?.status?.phase) trigger();
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    signal.addEventListener("abort", () => this.#trigger(), { once: true });
    while (!signal.aborted) {
      if (!this.#due) await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#due = false;
      if (signal.aborted) break;
      try {
        await this.#pass();
      } catch (error) {
        logger.warn("a scheduling pass failed and will be repeated", { error: describeError(error) });
        this.#timer ??= clock.setTimer(retryMs, () => this.#trigger());
      }
    }
    this.#timer?.cancel();
  }

  #trigger(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#due = true;
    this.#wake();
  }

  async #pass(): Promise<void> {
    const { pods, nodes, namespaces, clock } = this.#options;
    const all = pods.list();
    const waiting = all
      .filter((pod) => isPending(pod) && !this.#assumed.has(pod.metadata.uid ?? ""))
      .sort(moreUrgentFirst);
    if (waiting.length === 0) return;
    const snapshot = createSnapshot(nodes.list(), all);
    for (const pod of all) {
      const assumed = this.#assumed.get(pod.metadata.uid ?? "");
      if (assumed === undefined) continue;
      if (assumed.until < clock.monotonic()) this.#assumed.delete(pod.metadata.uid ?? "");
      else snapshot.place(pod, assumed.nodeName);
    }
    const namespaceLabels = (name: string): Record<string, string> => namespaces.get(name)?.metadata.labels ?? {};
    const writes: Promise<void>[] = [];
    for (const pod of waiting) {
      const decision = this.#decide(pod, snapshot, namespaceLabels);
      if (decision.fits) {
        snapshot.place(pod, decision.nodeName);
        writes.push(this.#bind(pod, decision.nodeName));
      } else {
        writes.push(this.#refuse(pod, decision.message));
      }
      if (writes.length >= parallel) await Promise.all(writes.splice(0));
    }
    await Promise.all(writes);
  }

  #decide(pod: Pod, snapshot: Snapshot, namespaceLabels: (name: string) => Record<string, string>): Decision {
    const problem = claimProblem(pod, (name) => this.#options.claims.get(`${pod.metadata.namespace}/${name}`));
    if (problem === undefined) return schedule(pod, snapshot, { namespaceLabels });
    return { fits: false, message: `0/${snapshot.nodes.length} nodes are available: ${problem}.` };
  }

  async #bind(pod: Pod, nodeName: string): Promise<void> {
    const { client, events, clock } = this.#options;
    const { name = "", namespace = "", uid = "" } = pod.metadata;
    this.#assumed.set(uid, { nodeName, until: clock.monotonic() + assumedMs });
    try {
      await client.createSubresource(
        podResource,
        { name, namespace, subresource: "binding" },
        {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name, namespace, uid },
          target: { apiVersion: "v1", kind: "Node", name: nodeName },
        },
      );
    } catch (error) {
      this.#assumed.delete(uid);
      if (hasCode(error, "KubeNotFound") || hasCode(error, "KubeConflict")) return;
      throw error;
    }
    const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
    events.record({ ...pod, apiVersion: "v1", kind: "Pod" }, "Normal", "Scheduled", message);
  }

  async #refuse(pod: Pod, message: string): Promise<void> {
    const { client, events, clock } = this.#options;
    const before = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
    if (before?.status === "False" && before.message === message) return;
    const { name = "", namespace, uid } = pod.metadata;
    const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const lastTransitionTime = before?.status === "False" ? (before.lastTransitionTime ?? time) : time;
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      await client.patch(podResource, name, namespace, { type: "strategic", subresource: "status", body });
    } catch (error) {
      if (hasCode(error, "KubeNotFound") || hasCode(error, "KubeConflict")) return;
      throw error;
    }
    events.record({ ...pod, apiVersion: "v1", kind: "Pod" }, "Warning", "FailedScheduling", message);
  }
}

function isPending(pod: Pod): boolean {
  return (
    pod.spec.nodeName === undefined &&
    pod.metadata.deletionTimestamp === undefined &&
    !isFinished(pod) &&
    (pod.spec.schedulingGates ?? []).length === 0 &&
    (pod.spec.schedulerName ?? schedulerName) === schedulerName
  );
}

function moreUrgentFirst(a: Pod, b: Pod): number {
  const created = (pod: Pod): number => Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
  return (b.spec.priority ?? 0) - (a.spec.priority ?? 0) || created(a) - created(b);
}

/** What can make a pod fit that did not fit before; heartbeats are not among it. */
function matters(node: Node): string {
  return JSON.stringify([node.metadata.labels, node.spec, node.status?.allocatable]);
}
