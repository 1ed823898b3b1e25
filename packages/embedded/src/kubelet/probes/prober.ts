import type { Container, Probe } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Timer } from "@polyvirt/core";
import type { PodRecord } from "../pod-record.ts";
import {
  containerVerdict,
  foldProbe,
  initialProbeState,
  type ContainerVerdict,
  type ProbeKind,
  type ProbeResult,
  type ProbeState,
} from "./probe-verdict.ts";

/** Carries one probe out; must end within the probe's time limit. */
type ProbeRunner = (record: PodRecord, container: Container, probe: Probe) => Promise<ProbeResult>;

interface ProberOptions {
  readonly clock: Clock;
  readonly run: ProbeRunner;
  /** A verdict changed. */
  readonly onVerdict: (record: PodRecord) => void;
  readonly onFailure: (record: PodRecord, container: Container, kind: ProbeKind, result: ProbeResult) => void;
}

interface Watch {
  readonly attempt: number;
  readonly states: Partial<Record<ProbeKind, ProbeState>>;
  readonly timers: Map<ProbeKind, Timer>;
  stopped: boolean;
}

const probesOf = (container: Container): [ProbeKind, Probe][] =>
  (
    [
      ["startup", container.startupProbe],
      ["readiness", container.readinessProbe],
      ["liveness", container.livenessProbe],
    ] as const
  ).filter((entry): entry is [ProbeKind, Probe] => entry[1] !== undefined);

/** Runs the probes of running containers and remembers what they said. */
export class Prober {
  readonly #options: ProberOptions;
  /** Key: pod UID and container name. */
  readonly #watches = new Map<string, Watch>();

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** Begins to probe a run; `ready` takes over what the API server already shows for it. */
  watch(record: PodRecord, container: Container, attempt: number, startedAt: number, ready = false): void {
    const key = keyOf(record, container.name);
    if (this.#watches.get(key)?.attempt === attempt) return;
    this.forget(record, container.name);
    const probes = probesOf(container);
    if (probes.length === 0) return;
    const watch: Watch = { attempt, states: {}, timers: new Map(), stopped: false };
    this.#watches.set(key, watch);
    for (const [kind, probe] of probes) {
      watch.states[kind] =
        ready && kind !== "liveness" ? { verdict: "success", streak: 1, lastSuccess: true } : initialProbeState;
      const delay = startedAt + (probe.initialDelaySeconds ?? 0) * 1000 - this.#options.clock.now();
      this.#schedule(record, container, watch, kind, probe, Math.max(0, delay));
    }
  }

  verdictOf(record: PodRecord, container: Container): ContainerVerdict {
    return containerVerdict(container, this.#watches.get(keyOf(record, container.name))?.states ?? {});
  }

  forget(record: PodRecord, container?: string): void {
    const prefix = container === undefined ? `${record.uid}/` : keyOf(record, container);
    for (const [key, watch] of this.#watches) {
      if (container === undefined ? !key.startsWith(prefix) : key !== prefix) continue;
      watch.stopped = true;
      for (const timer of watch.timers.values()) timer.cancel();
      this.#watches.delete(key);
    }
  }

  #schedule(record: PodRecord, container: Container, watch: Watch, kind: ProbeKind, probe: Probe, delay: number): void {
    if (watch.stopped) return;
    const timer = this.#options.clock.setTimer(delay, () => {
      void this.#probe(record, container, watch, kind, probe).finally(() =>
        this.#schedule(record, container, watch, kind, probe, (probe.periodSeconds ?? 10) * 1000),
      );
    });
    watch.timers.set(kind, timer);
  }

  async #probe(record: PodRecord, container: Container, watch: Watch, kind: ProbeKind, probe: Probe): Promise<void> {
    // Other probes wait until the container has started; a started one is not asked again.
    const started = container.startupProbe === undefined || watch.states.startup?.verdict === "success";
    if (kind === "startup" ? started : !started) return;
    const result = await this.#options
      .run(record, container, probe)
      .catch((error: unknown): ProbeResult => ({ success: false, message: describeError(error) }));
    if (watch.stopped) return;
    const before = watch.states[kind] ?? initialProbeState;
    const after = foldProbe(before, result.success, probe);
    watch.states[kind] = after;
    if (!result.success) this.#options.onFailure(record, container, kind, result);
    if (after.verdict !== before.verdict) this.#options.onVerdict(record);
  }
}

function keyOf(record: PodRecord, container: string): string {
  return `${record.uid}/${container}`;
}
