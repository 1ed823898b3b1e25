import * as fs from "node:fs";
import type { Container } from "@polyvirt/api/k8s";
import { describeError, type PolyvirtError } from "@polyvirt/core";
import { ContainerStarter } from "./container-starter.ts";
import { isImageProblem, waitForImage } from "./image-pull.ts";
import type { NodeContext } from "./node-context.ts";
import { runLifecycleHook } from "./lifecycle-hook.ts";
import { containersOf, observationOf, type Instance, type PodObservation } from "./pod-observation.ts";
import { observePod } from "./pod-observer.ts";
import { planPod, type PodAction } from "./pod-plan.ts";
import { containerRecord, savePod, type ContainerRecord, type PodRecord } from "./pod-record.ts";
import { releasePod } from "./release-pod.ts";
import { crashLoopMessage, podStatus } from "./pod-status.ts";
import type { Prober } from "./probes/prober.ts";
import { assertSupported } from "./security.ts";
import { exceededLimit, hasStorageLimits } from "./storage-limits.ts";
import { storageUsage } from "./storage-usage.ts";
import { prepareVolumes, refreshProjections, type VolumeContext } from "./volumes/prepare-volumes.ts";

interface PodWorkerOptions {
  readonly context: NodeContext;
  readonly prober: Prober;
  readonly wake: (uid: string) => void;
  /** The pod is gone; forget it. */
  readonly onRemoved: (record: PodRecord) => void;
}

const firstBackOffMs = 10_000;
const maxBackOffMs = 300_000;
/** A container that ran this long is not in a crash loop. */
const stableMs = 600_000;
const refreshMs = 60_000;
const measureMs = 10_000;
const prepareRetryMs = 1_000;
const launchMs = 500;

/** Failures that waiting does not mend, and what the pod says about them. */
const finalReasons: Readonly<Record<string, string>> = {
  KubeletPodRefused: "UnsupportedPod",
  KubeletDevicesMissing: "UnexpectedAdmissionError",
};

/** Brings the containers of one pod to where they should be: observes, plans, acts, reports. */
export class PodWorker {
  readonly #context: NodeContext;
  readonly #options: PodWorkerOptions;
  readonly #starter: ContainerStarter;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
    this.#context = options.context;
    this.#starter = new ContainerStarter(options.context, options.wake);
  }

  /** Returns when to look again, if nothing happens before. */
  async reconcile(record: PodRecord): Promise<{ requeueAfterMs?: number }> {
    const { clock } = this.#context;
    this.#takeEndsIntoAccount(record);
    this.#enforceDeadline(record);
    await this.#enforceStorageLimits(record);
    const plan = planPod(record.pod, this.#observe(record));
    for (const action of plan.actions) await this.#act(record, action);
    if (plan.actions.some(({ kind }) => kind === "remove")) return {};
    await this.#refreshVolumes(record);
    this.#watchProbes(record);
    if (this.#isLaunching(record)) return { requeueAfterMs: launchMs };
    await this.#report(record);
    const acted = plan.actions.some(({ kind }) => kind === "prepare" || kind === "start");
    const wakeAt = acted ? planPod(record.pod, this.#observe(record)).wakeAt : plan.wakeAt;
    if (acted && record.prepared && plan.actions[0]?.kind === "prepare") return { requeueAfterMs: 0 };
    const next = Math.min(
      wakeAt ?? Number.POSITIVE_INFINITY,
      record.refreshAt,
      record.measureAt,
      this.#deadlineOf(record),
    );
    return Number.isFinite(next) ? { requeueAfterMs: Math.max(1, next - clock.now()) } : {};
  }

  /** A container is about to run: the next report, a moment later, says more than one now would. */
  #isLaunching(record: PodRecord): boolean {
    const since = this.#context.clock.monotonic() - launchMs;
    return [...record.containers.values()].some(
      ({ process, launchedAt }) => (launchedAt ?? 0) > since && process?.state().phase === "starting",
    );
  }

  #observe(record: PodRecord): PodObservation {
    return observePod(record, this.#context.paths, this.#options.prober, this.#context.clock.now());
  }

  async #act(record: PodRecord, action: PodAction): Promise<void> {
    switch (action.kind) {
      case "prepare":
        return this.#prepare(record);
      case "start": {
        const container = containerNamed(record, action.container);
        if (container !== undefined) await this.#starter.start(record, container, action.attempt);
        return;
      }
      case "stop": {
        const known = record.containers.get(action.container);
        if (known?.process === undefined) return;
        this.#context.events.record(
          record.pod,
          "Normal",
          "Killing",
          action.why || `Stopping container ${action.container}`,
        );
        known.stopping = { deadline: action.deadline, killed: false };
        if (record.halting === true) known.process.markInterrupted();
        if (action.deadline <= this.#context.clock.now()) this.#kill(known);
        else this.#askToEnd(record, action.container, known, action.deadline);
        return;
      }
      case "kill": {
        const known = record.containers.get(action.container);
        if (known !== undefined) this.#kill(known);
        return;
      }
      case "remove":
        return this.#remove(record);
    }
  }

  /** The container's own preparations first, then SIGTERM; both within the grace period. */
  #askToEnd(record: PodRecord, name: string, known: ContainerRecord, deadline: number): void {
    const { clock, events } = this.#context;
    const container = containerNamed(record, name);
    const hook = container?.lifecycle?.preStop;
    const { process } = known;
    if (container === undefined || hook === undefined) return process?.signal("SIGTERM");
    void runLifecycleHook(record, container, hook, deadline - clock.now(), clock)
      .catch((error: unknown) => describeError(error))
      .then((problem) => {
        if (problem !== undefined)
          events.record(record.pod, "Warning", "FailedPreStopHook", `PreStopHook failed: ${problem}`);
        return process?.signal("SIGTERM");
      });
  }

  #kill(known: ContainerRecord): void {
    known.process?.kill();
    if (known.stopping !== undefined) known.stopping.killed = true;
  }

  async #prepare(record: PodRecord): Promise<void> {
    const { events, clock, paths } = this.#context;
    try {
      assertSupported(record.pod);
      savePod(paths, record);
      await this.#context.devices.admit(record.pod);
      await this.#connect(record);
      record.volumes = await prepareVolumes(record.pod, this.#volumeContext(record));
      record.prepared = true;
      record.refreshAt = clock.now() + refreshMs;
      if (hasStorageLimits(record.pod)) record.measureAt = clock.now() + measureMs;
      delete record.prepareAgainAt;
      for (const known of record.containers.values()) delete known.waiting;
    } catch (error) {
      if (isImageProblem(error)) return this.#waitForVolumeImage(record, error);
      const message = describeError(error);
      const reason = isCoded(error) ? finalReasons[error.code] : undefined;
      if (reason !== undefined) {
        record.ended = { reason, message };
        events.record(record.pod, "Warning", reason, message);
        return;
      }
      const delay = Math.min(prepareRetryMs * 2 ** record.prepareFailures++, 60_000);
      record.prepareAgainAt = clock.now() + delay;
      events.record(record.pod, "Warning", "FailedMount", `MountVolume.SetUp failed: ${message}`);
    }
  }

  async #connect(record: PodRecord): Promise<void> {
    if (record.pod.spec.hostNetwork === true) return;
    const namespace = await this.#context.network.attach(record.uid, record.ip);
    if (namespace !== undefined) record.networkNamespace = namespace;
  }

  /** A volume's image is missing: shown at the containers, which is where users look for it. */
  #waitForVolumeImage(record: PodRecord, error: PolyvirtError): void {
    const reference = String(error.fields["reference"] ?? "of a volume");
    for (const { container } of containersOf(record.pod)) {
      const known = containerRecord(record, container.name);
      waitForImage(this.#context, record, known, { reference, problem: error.message });
      record.prepareAgainAt = known.waiting?.until ?? this.#context.clock.now() + prepareRetryMs;
    }
  }

  #volumeContext(record: PodRecord): VolumeContext {
    const { api, paths, images, clock, events } = this.#context;
    const namespace = record.pod.metadata.namespace ?? "";
    return {
      paths,
      images,
      tell: (reason, message) => events.record(record.pod, "Normal", reason, message),
      claimedVolume: (name) => api.claimedVolume(namespace, name),
      now: () => clock.now(),
      sources: {
        facts: this.#starter.factsOf(record),
        secret: (name) => api.secret(namespace, name),
        configMap: (name) => api.configMap(namespace, name),
        token: (audience, seconds) => api.serviceAccountToken(record.pod, audience, seconds),
      },
    };
  }

  /** Secrets, config maps and labels may have changed; tokens expire. */
  async #refreshVolumes(record: PodRecord): Promise<void> {
    const { clock, logger } = this.#context;
    if (!record.prepared || clock.now() < record.refreshAt) return;
    record.refreshAt = clock.now() + refreshMs;
    try {
      await refreshProjections(record.pod, this.#volumeContext(record));
    } catch (error) {
      logger.warn("volumes of a pod could not be refreshed", {
        pod: record.pod.metadata.name,
        error: describeError(error),
      });
    }
  }

  /** Notices each end of a run once: last output, back-off before the next run. */
  #takeEndsIntoAccount(record: PodRecord): void {
    const observation = this.#observe(record);
    for (const { container } of containersOf(record.pod)) {
      const known = record.containers.get(container.name);
      const { current } = observationOf(observation, container.name);
      if (known === undefined || current?.phase !== "exited" || known.endedAttempt === current.attempt) continue;
      known.endedAttempt = current.attempt;
      known.pump?.finish();
      delete known.stopping;
      this.#options.prober.forget(record, container.name);
      this.#backOff(record, container, known, current);
    }
  }

  /** The first end restarts at once; the following ones wait 10 s, 20 s … 5 min. A stop of the node is no end of this kind. */
  #backOff(record: PodRecord, container: Container, known: ContainerRecord, ended: Instance): void {
    if (ended.interrupted === true) return;
    const finished = ended.finishedAt ?? this.#context.clock.now();
    const stable = ended.startedAt !== undefined && finished - ended.startedAt > stableMs;
    const before = stable ? undefined : known.backOff;
    const delayMs = before === undefined ? 0 : Math.min(Math.max(firstBackOffMs, before.delayMs * 2), maxBackOffMs);
    known.backOff = { until: finished + delayMs, delayMs };
    if (delayMs === 0 || ended.exitCode === 0) return;
    const text = crashLoopMessage(record.pod, container.name, delayMs).replace(/^back-off \S+/, "Back-off");
    this.#context.events.record(
      record.pod,
      "Warning",
      "BackOff",
      text.replace("container=", "container ").replace("pod=", "in pod "),
    );
  }

  #deadlineOf(record: PodRecord): number {
    const seconds = record.pod.spec.activeDeadlineSeconds;
    return seconds === undefined || record.ended !== undefined
      ? Number.POSITIVE_INFINITY
      : record.startTime + seconds * 1000;
  }

  #enforceDeadline(record: PodRecord): void {
    if (this.#context.clock.now() < this.#deadlineOf(record)) return;
    const message = "Pod was active on the node longer than the specified deadline";
    record.ended = { reason: "DeadlineExceeded", message };
    this.#context.events.record(record.pod, "Normal", "DeadlineExceeded", message);
  }

  /** A pod that takes more of the disk than it may is evicted, as soon as it is noticed. */
  async #enforceStorageLimits(record: PodRecord): Promise<void> {
    const { clock, paths, events } = this.#context;
    if (record.ended !== undefined || clock.now() < record.measureAt) return;
    record.measureAt = clock.now() + measureMs;
    const message = exceededLimit(record.pod, await storageUsage(record, paths));
    if (message === undefined) return;
    record.ended = { reason: "Evicted", message };
    record.measureAt = Number.POSITIVE_INFINITY;
    events.record(record.pod, "Warning", "Evicted", message);
  }

  #watchProbes(record: PodRecord): void {
    const observation = this.#observe(record);
    for (const { container, role } of containersOf(record.pod)) {
      const { current } = observationOf(observation, container.name);
      if (role === "init" || current?.phase !== "running") continue;
      const shown = record.pod.status?.containerStatuses?.find(({ name }) => name === container.name);
      const sameRun = shown?.restartCount === current.attempt && shown.state?.running !== undefined;
      const startedAt = current.startedAt ?? observation.now;
      this.#options.prober.watch(record, container, current.attempt, startedAt, sameRun && shown.ready);
    }
  }

  async #report(record: PodRecord): Promise<void> {
    if (record.orphaned) return;
    const { nodeAddress: hostIP, api } = this.#context;
    const status = podStatus(record.pod, this.#observe(record), {
      hostIP,
      startTime: record.startTime,
      ...(record.ip === "" ? {} : { podIP: record.ip }),
    });
    const text = JSON.stringify(status);
    if (text === record.lastStatus) return;
    const updated = await api.patchPodStatus(record.pod, status);
    record.lastStatus = text;
    if (status.phase === "Succeeded" || status.phase === "Failed") this.#context.devices.release(record.uid);
    if (updated?.metadata.uid === record.uid) record.pod = updated;
  }

  /** Nothing of the pod stays on the machine but its folders. */
  async letGo(record: PodRecord): Promise<void> {
    delete record.sandbox;
    if (!(await releasePod(record.uid, this.#context)))
      this.#context.logger.warn("control groups of a pod could not be removed", { pod: record.pod.metadata.name });
  }

  async #remove(record: PodRecord): Promise<void> {
    const { paths, api } = this.#context;
    await this.#report(record);
    for (const known of record.containers.values()) {
      known.pump?.close();
      known.process?.detach();
    }
    this.#options.prober.forget(record);
    this.#context.devices.release(record.uid);
    if (record.ip !== "" && record.ip !== this.#context.nodeAddress) await this.#context.network.detach(record.ip);
    if (!record.orphaned) await api.deletePod(record.pod);
    await this.letGo(record);
    for (const directory of [paths.podVolumes(record.uid), paths.podLogs(record.uid), paths.podRuntime(record.uid)]) {
      await fs.promises.rm(directory, { recursive: true, force: true });
    }
    this.#options.onRemoved(record);
  }
}

function isCoded(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

function containerNamed(record: PodRecord, name: string): Container | undefined {
  return containersOf(record.pod).find(({ container }) => container.name === name)?.container;
}
