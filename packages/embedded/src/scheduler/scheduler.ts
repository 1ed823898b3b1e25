import type {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StorageClass,
} from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger, type Timer } from "@polyvirt/core";
import type { EventRecorder, Informer, KubeClient } from "@polyvirt/kube";
import { createClaimRules, type ClaimRules } from "./claims.ts";
import { defaultSpread, type PodGroups } from "./default-spread.ts";
import { DecisionWriter } from "./decision-writer.ts";
import { planPreemption } from "./preemption.ts";
import { schedule } from "./schedule.ts";
import { createSnapshot, isFinished, type NodeState, type Snapshot } from "./snapshot.ts";

interface SchedulerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<Namespace>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly services: Informer<Service>;
  readonly replicaSets: Informer<ReplicaSet>;
}

const schedulerName = "default-scheduler";
const retryMs = 5_000;
/** How long a binding that the cache does not show yet is counted. */
const assumedMs = 30_000;
/** Writes sent at the same time. */
const parallel = 16;
const gatedMessage = "Scheduling is blocked due to non-empty scheduling gates";

/** Binds pods to nodes: after each change of pods or nodes, everything that waits is looked at in order of priority. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #writer: DecisionWriter;
  /** UID → node of pods that were bound just now. */
  readonly #assumed = new Map<string, { nodeName: string; until: number }>();
  #wake: () => void = () => {};
  #due = true;
  #timer: Timer | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#writer = new DecisionWriter(options);
    this.#listen();
  }

  #listen(): void {
    const { pods, nodes, claims, volumes } = this.#options;
    const trigger = (): void => this.#trigger();
    pods.on({
      onSet: (pod, old) => {
        if (pod.spec.nodeName !== undefined) this.#assumed.delete(pod.metadata.uid ?? "");
        if (isWaiting(pod) || (old !== undefined && isFinished(pod) !== isFinished(old))) trigger();
      },
      onDelete: (pod) => {
        this.#assumed.delete(pod.metadata.uid ?? "");
        trigger();
      },
    });
    nodes.on({
      onSet: (node, old) => {
        if (old === undefined || matters(node) !== matters(old)) trigger();
      },
    });
    claims.on({
      onSet: (claim, old) => {
        if (claim.status?.phase !== old?.status?.phase) trigger();
      },
    });
    volumes.on({
      onSet: (volume, old) => {
        if (volume.status?.phase !== old?.status?.phase) trigger();
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
    const { pods, nodes } = this.#options;
    const all = pods.list();
    const waiting = all
      .filter((pod) => isWaiting(pod) && !this.#assumed.has(pod.metadata.uid ?? ""))
      .sort(moreUrgentFirst);
    if (waiting.length === 0) return;
    const snapshot = createSnapshot(nodes.list(), all);
    this.#placeAssumed(all, snapshot);
    const writes: Promise<void>[] = [];
    for (const pod of waiting) {
      writes.push(this.#decide(pod, snapshot));
      if (writes.length >= parallel) await Promise.all(writes.splice(0));
    }
    await Promise.all(writes);
  }

  #placeAssumed(all: readonly Pod[], snapshot: Snapshot): void {
    for (const pod of all) {
      const uid = pod.metadata.uid ?? "";
      const assumed = this.#assumed.get(uid);
      if (assumed === undefined) continue;
      if (assumed.until < this.#options.clock.monotonic()) this.#assumed.delete(uid);
      else snapshot.place(pod, assumed.nodeName);
    }
  }

  /** Decides at once, so that the next pod sees it in the snapshot; the promise is about telling the API server. */
  #decide(pod: Pod, snapshot: Snapshot): Promise<void> {
    if ((pod.spec.schedulingGates ?? []).length > 0) return this.#writer.refuse(pod, "SchedulingGated", gatedMessage);
    const claims = this.#claimRules(pod);
    const wishes = defaultSpread(pod, this.#groups);
    const decision = schedule(pod, snapshot, { namespaceLabels: this.#namespaceLabels, claims, wishes });
    if (!decision.fits) return this.#makeRoom(pod, snapshot, claims, decision);
    snapshot.place(pod, decision.nodeName);
    if (claims.waiting.length > 0) return this.#promiseVolumes(claims, decision.nodeName);
    return this.#bind(pod, decision.nodeName);
  }

  readonly #namespaceLabels = (name: string): Record<string, string> =>
    this.#options.namespaces.get(name)?.metadata.labels ?? {};

  readonly #groups: PodGroups = {
    services: () => this.#options.services.list(),
    replicaSet: (namespace, name) => this.#options.replicaSets.get(`${namespace}/${name}`),
  };

  #claimRules(pod: Pod): ClaimRules {
    const { claims, volumes, storageClasses } = this.#options;
    return createClaimRules(pod, {
      claim: (name) => claims.get(`${pod.metadata.namespace}/${name}`),
      volume: (name) => volumes.get(name),
      storageClass: (name) => storageClasses.get(name),
      volumes: () => volumes.list(),
    });
  }

  async #bind(pod: Pod, nodeName: string): Promise<void> {
    const uid = pod.metadata.uid ?? "";
    this.#assumed.set(uid, { nodeName, until: this.#options.clock.monotonic() + assumedMs });
    try {
      if (await this.#writer.bind(pod, nodeName)) return;
      this.#assumed.delete(uid);
    } catch (error) {
      this.#assumed.delete(uid);
      throw error;
    }
  }

  /** The pod is bound in a later pass, when its claims have their volumes. */
  async #promiseVolumes({ waiting }: ClaimRules, nodeName: string): Promise<void> {
    for (const claim of waiting) await this.#writer.promise(claim, nodeName);
  }

  /** A pod that fits nowhere may make less important ones go; until they are gone, the place is kept for it. */
  async #makeRoom(
    pod: Pod,
    snapshot: Snapshot,
    claims: ClaimRules,
    { message, crowded }: { message: string; crowded: readonly NodeState[] },
  ): Promise<void> {
    if (snapshot.nodes.length === 0) return this.#writer.refuse(pod, "Unschedulable", message);
    const plan = planPreemption(pod, snapshot, crowded, {
      namespaceLabels: this.#namespaceLabels,
      claims,
      budgets: this.#options.budgets.list(),
    });
    if (plan.kind === "victims") {
      snapshot.place(pod, plan.nodeName);
      await this.#writer.refuse(pod, "Unschedulable", message, plan.nodeName);
      for (const victim of plan.victims) {
        if (victim.metadata.deletionTimestamp === undefined) await this.#writer.preempt(victim, pod, plan.nodeName);
      }
      return;
    }
    const keeps = plan.kind === "leaving" ? plan.nodeName : "";
    if (keeps !== "") snapshot.place(pod, keeps);
    await this.#writer.refuse(pod, "Unschedulable", `${message} preemption: ${plan.message}`, keeps);
  }
}

function isWaiting(pod: Pod): boolean {
  return (
    pod.spec.nodeName === undefined &&
    pod.metadata.deletionTimestamp === undefined &&
    !isFinished(pod) &&
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
