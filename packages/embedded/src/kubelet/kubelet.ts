import * as fs from "node:fs";
import type { Pod } from "@polyvirt/api/k8s";
import { unmountBelow } from "@polyvirt/host";
import type { Controller, Informer } from "@polyvirt/kube";
import { createController } from "@polyvirt/kube";
import { waitsForImage } from "./image-pull.ts";
import { typedPod } from "./api-access.ts";
import type { NodeContext } from "./node-context.ts";
import type { PodAddresses } from "./pod-addresses.ts";
import { adoptContainers, loadSavedPods, savePod, type PodRecord } from "./pod-record.ts";
import { PodWorker } from "./pod-worker.ts";
import { runProbe } from "./probes/probe-runner.ts";
import { Prober } from "./probes/prober.ts";

interface KubeletOptions {
  readonly context: NodeContext;
  /** Only the pods that are bound to this node. */
  readonly pods: Informer<Pod>;
  readonly addresses: PodAddresses;
  readonly workers?: number;
}

const orphanGraceMs = 2_000;
const shutDownPollMs = 50;

/** Runs the pods of one node. */
export class Kubelet {
  readonly #context: NodeContext;
  readonly #options: KubeletOptions;
  readonly #records = new Map<string, PodRecord>();
  readonly #controller: Controller;
  readonly #prober: Prober;
  readonly #worker: PodWorker;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#context = options.context;
    const { clock, logger, nodeName } = options.context;
    const wake = (uid: string): void => this.#controller.enqueue(uid);
    this.#prober = new Prober({
      clock,
      run: runProbe,
      onVerdict: (record) => wake(record.uid),
      onFailure: (record, _container, kind, result) => {
        const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
        this.#context.events.record(record.pod, "Warning", "Unhealthy", `${name} probe failed: ${result.message}`);
      },
    });
    this.#worker = new PodWorker({
      context: options.context,
      prober: this.#prober,
      wake,
      onRemoved: (record) => this.#forget(record),
    });
    this.#controller = createController({
      name: `kubelet ${nodeName}`,
      clock,
      logger,
      workers: options.workers ?? 16,
      reconcile: async (uid) => {
        const record = this.#records.get(uid);
        return record === undefined ? {} : this.#worker.reconcile(record);
      },
    });
  }

  /** Takes over what an earlier kubelet left and runs pods until the signal; containers go on after it. */
  async run(signal: AbortSignal): Promise<void> {
    const { pods } = this.#options;
    const saved = loadSavedPods(this.#context.paths);
    for (const { ip } of saved) this.#options.addresses.reserve(ip);
    await pods.synced();
    await this.#removeStrayGroups(new Set(saved.map(({ uid }) => uid)));
    const known = new Map(pods.list().map((pod) => [pod.metadata.uid, pod]));
    this.#context.devices.keepOnly(new Set(pods.list().map((pod) => pod.metadata.uid ?? "")));
    for (const entry of saved) this.#adopt(entry, known.get(entry.uid));
    pods.on({
      onSet: (pod) => this.#set(pod),
      onDelete: (pod) => this.#orphan(pod.metadata.uid ?? ""),
    });
    await this.#controller.run(signal);
  }

  /**
   * Stops every container, as before the machine goes down: pods of low priority first, so that what they report while they
   * end still finds the pods that listen. The pods themselves stay; the next kubelet starts them again by their policy.
   * With the signal nobody is waited for any more.
   */
  async shutDown(hurry?: AbortSignal): Promise<void> {
    const priorities = new Set(this.records().map(({ pod }) => pod.spec.priority ?? 0));
    for (const priority of [...priorities].toSorted((a, b) => a - b)) {
      const group = this.records().filter(({ pod }) => (pod.spec.priority ?? 0) <= priority);
      for (const record of group) {
        record.halting = true;
        this.#controller.enqueue(record.uid);
      }
      while (group.some((record) => this.#records.has(record.uid) && runsContainers(record))) {
        if (hurry?.aborted === true) for (const record of group) killContainers(record);
        await this.#context.clock.sleep(shutDownPollMs);
      }
      for (const record of group) await this.#worker.letGo(record);
    }
    await this.#context.groups.remove();
    // What containers shared with the machine would keep the node's folder from being removed.
    unmountBelow(this.#context.paths.root);
  }

  /** A pod without a folder is one that an earlier kubelet, killed meanwhile, had almost removed. */
  async #removeStrayGroups(saved: ReadonlySet<string>): Promise<void> {
    const { groups, logger } = this.#context;
    for (const uid of groups.list().filter((name) => !saved.has(name))) {
      logger.info("control groups of a pod that is gone are removed", { uid });
      await groups.remove(uid);
    }
  }

  recordOf(namespace: string, name: string): PodRecord | undefined {
    return [...this.#records.values()].find(
      ({ pod, orphaned }) => !orphaned && pod.metadata.namespace === namespace && pod.metadata.name === name,
    );
  }

  records(): PodRecord[] {
    return [...this.#records.values()];
  }

  /** An image was added: pods that wait for one need not wait for their back-off. */
  imagesChanged(): void {
    for (const record of this.#records.values()) {
      const waiting = [...record.containers.values()].filter(waitsForImage);
      if (waiting.length === 0) continue;
      delete record.prepareAgainAt;
      for (const known of waiting) if (known.waiting !== undefined) known.waiting = { ...known.waiting, until: 0 };
      this.#controller.enqueue(record.uid);
    }
  }

  #set(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    for (const other of this.#records.values()) {
      const sameName = other.pod.metadata.name === pod.metadata.name;
      if (other.uid !== uid && sameName && other.pod.metadata.namespace === pod.metadata.namespace)
        this.#orphan(other.uid);
    }
    const record = this.#records.get(uid);
    if (record !== undefined) record.pod = typedPod(pod);
    else this.#records.set(uid, this.#newRecord(uid, typedPod(pod)));
    this.#controller.enqueue(uid);
  }

  #newRecord(uid: string, pod: Pod): PodRecord {
    const { context } = this.#options;
    const done = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
    const started = pod.status?.startTime;
    return {
      uid,
      pod,
      orphaned: false,
      ip: done ? (pod.status?.podIP ?? "") : this.#newAddress(pod),
      startTime: started === undefined ? context.clock.now() : Date.parse(started),
      prepared: false,
      prepareFailures: 0,
      volumes: new Map(),
      refreshAt: Number.POSITIVE_INFINITY,
      measureAt: Number.POSITIVE_INFINITY,
      containers: new Map(),
    };
  }

  #newAddress(pod: Pod): string {
    const { addresses, context } = this.#options;
    return pod.spec.hostNetwork === true ? context.nodeAddress : addresses.allocate();
  }

  /** A pod of an earlier kubelet goes on when the API server has it under the same UID; otherwise it is ended. */
  #adopt(
    saved: { uid: string; ip: string; startTime: number; name: string; namespace: string },
    pod: Pod | undefined,
  ): void {
    const { context } = this.#options;
    const { uid, name, namespace } = saved;
    const stranger: Pod = {
      metadata: { uid, name, namespace },
      spec: { containers: strangersOf(context.paths.podRuntime(uid)) },
    };
    const record: PodRecord = {
      ...this.#blankRecord(uid, typedPod(pod ?? stranger)),
      ip: this.#options.addresses.reserve(saved.ip) ? saved.ip : this.#newAddress(pod ?? stranger),
      startTime: saved.startTime === 0 ? context.clock.now() : saved.startTime,
    };
    this.#records.set(uid, record);
    adoptContainers(context.paths, record, context.clock, () => this.#controller.enqueue(uid));
    if (pod === undefined) this.#orphan(uid);
    else savePod(context.paths, record);
    this.#controller.enqueue(uid);
  }

  #blankRecord(uid: string, pod: Pod): PodRecord {
    return {
      uid,
      pod,
      orphaned: false,
      ip: "",
      startTime: 0,
      prepared: false,
      prepareFailures: 0,
      volumes: new Map(),
      refreshAt: Number.POSITIVE_INFINITY,
      measureAt: Number.POSITIVE_INFINITY,
      containers: new Map(),
    };
  }

  #orphan(uid: string): void {
    const record = this.#records.get(uid);
    if (record === undefined || record.orphaned) return;
    record.orphaned = true;
    const deadline = new Date(this.#context.clock.now() + orphanGraceMs).toISOString();
    record.pod = { ...record.pod, metadata: { ...record.pod.metadata, deletionTimestamp: deadline } };
    this.#controller.enqueue(uid);
  }

  #forget(record: PodRecord): void {
    this.#records.delete(record.uid);
    if (record.ip !== this.#context.nodeAddress) this.#options.addresses.release(record.ip);
  }
}

function runsContainers(record: PodRecord): boolean {
  return [...record.containers.values()].some(
    ({ process }) => process !== undefined && process.state().phase !== "exited",
  );
}

function killContainers(record: PodRecord): void {
  for (const { process } of record.containers.values()) if (process?.state().phase !== "exited") process?.kill();
}

/** Names of the containers that an unknown pod has left behind. */
function strangersOf(directory: string): { name: string }[] {
  try {
    return fs.readdirSync(`${directory}/containers`).map((name) => ({ name }));
  } catch {
    // It never started one.
    return [];
  }
}
