import type { Pod } from "@polyvirt/api/k8s";
import {
  containersOf,
  isActive,
  isRestarted,
  observationOf,
  type ContainerObservation,
  type PodObservation,
  type RoleContainer,
} from "./pod-observation.ts";

export type PodAction =
  | { readonly kind: "prepare" }
  | { readonly kind: "start"; readonly container: string; readonly attempt: number }
  /** SIGTERM now, SIGKILL at the deadline. */
  | { readonly kind: "stop"; readonly container: string; readonly deadline: number; readonly why: string }
  | { readonly kind: "kill"; readonly container: string }
  /** Nothing runs any more and the pod is being deleted: release everything and tell the API server. */
  | { readonly kind: "remove" };

export interface PodPlan {
  readonly actions: readonly PodAction[];
  /** When to look again although nothing has changed. */
  readonly wakeAt?: number;
}

const defaultGraceSeconds = 30;

/** What has to be done next for a pod, given what is known about it. Pure. */
export function planPod(pod: Pod, observation: PodObservation): PodPlan {
  if (isEnding(pod, observation)) return planEnd(pod, observation);
  if (!observation.prepared) {
    const again = observation.prepareAgainAt;
    if (again !== undefined && again > observation.now) return { actions: [], wakeAt: again };
    return { actions: [{ kind: "prepare" }] };
  }
  const plan = new PlanBuilder(pod, observation);
  plan.stopFailedProbes();
  plan.runContainers("ephemeral");
  if (plan.runInitContainers()) plan.runContainers("main");
  return plan.build();
}

function isEnding(pod: Pod, observation: PodObservation): boolean {
  return (
    pod.metadata.deletionTimestamp !== undefined ||
    observation.ended !== undefined ||
    observation.halting === true ||
    isPodDone(pod, observation)
  );
}

/** All work is done: every container has ended for good, or an init container has failed for good. */
export function isPodDone(pod: Pod, observation: PodObservation): boolean {
  const phase = pod.status?.phase;
  if (phase === "Succeeded" || phase === "Failed") return true;
  const endedForGood = ({ container, role }: RoleContainer): boolean => {
    const current = observationOf(observation, container.name).current;
    return current?.phase === "exited" && !isRestarted(pod, role, current);
  };
  const all = containersOf(pod);
  const failedInit = all
    .filter(({ role }) => role === "init")
    .some((entry) => endedForGood(entry) && observationOf(observation, entry.container.name).current?.exitCode !== 0);
  return failedInit || all.filter(({ role }) => role === "main").every(endedForGood);
}

function graceSecondsOf(pod: Pod): number {
  return pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds;
}

/** Ends ordinary containers first, then the restartable init containers in reverse order. */
function planEnd(pod: Pod, observation: PodObservation): PodPlan {
  const deletion = pod.metadata.deletionTimestamp;
  const deadline = deletion === undefined ? observation.now + graceSecondsOf(pod) * 1000 : Date.parse(deletion);
  const active = containersOf(pod).filter(({ container }) => isActive(observationOf(observation, container.name)));
  const others = active.filter(({ role }) => role !== "sidecar");
  const lastSidecar = active.findLast(({ role }) => role === "sidecar");
  const next = others.length > 0 ? others : lastSidecar === undefined ? [] : [lastSidecar];
  if (next.length === 0) return { actions: deletion === undefined ? [] : [{ kind: "remove" }] };
  const plan = new PlanBuilder(pod, observation);
  const late = deletion !== undefined && observation.now >= deadline;
  for (const { container } of late ? active : next) plan.stop(container.name, deadline, "Stopping container");
  return plan.build();
}

class PlanBuilder {
  readonly #pod: Pod;
  readonly #observation: PodObservation;
  readonly #actions: PodAction[] = [];
  #wakeAt: number | undefined;

  constructor(pod: Pod, observation: PodObservation) {
    this.#pod = pod;
    this.#observation = observation;
  }

  build(): PodPlan {
    return { actions: this.#actions, ...(this.#wakeAt === undefined ? {} : { wakeAt: this.#wakeAt }) };
  }

  stopFailedProbes(): void {
    for (const { container } of containersOf(this.#pod)) {
      const seen = observationOf(this.#observation, container.name);
      if (!isActive(seen)) continue;
      const probe = seen.failedProbe?.startsWith("startup") ? container.startupProbe : container.livenessProbe;
      const grace = probe?.terminationGracePeriodSeconds ?? graceSecondsOf(this.#pod);
      if (seen.failedProbe !== undefined) {
        const why = `Container ${container.name} failed ${seen.failedProbe} probe, will be restarted`;
        this.stop(container.name, this.#observation.now + grace * 1000, why);
      } else if (seen.stopping !== undefined) {
        this.stop(container.name, seen.stopping.deadline, "");
      }
    }
  }

  /** True when the ordinary containers may run. */
  runInitContainers(): boolean {
    const started = this.#pod.spec.containers.some(
      ({ name }) => observationOf(this.#observation, name).current !== undefined,
    );
    for (const entry of containersOf(this.#pod)) {
      const { container, role } = entry;
      if (role === "main") break;
      const seen = observationOf(this.#observation, container.name);
      if (role === "sidecar") {
        this.#keepRunning(entry, seen);
        if (!started && !seen.started) return false;
      } else if (!started && !(seen.current?.phase === "exited" && seen.current.exitCode === 0)) {
        this.#keepRunning(entry, seen);
        return false;
      }
    }
    return true;
  }

  runContainers(role: "main" | "ephemeral"): void {
    for (const entry of containersOf(this.#pod)) {
      if (entry.role === role) this.#keepRunning(entry, observationOf(this.#observation, entry.container.name));
    }
  }

  stop(container: string, deadline: number, why: string): void {
    const { stopping } = observationOf(this.#observation, container);
    const { now } = this.#observation;
    if (stopping === undefined) {
      this.#actions.push({ kind: "stop", container, deadline, why });
      this.#wake(Math.max(deadline, now));
      return;
    }
    if (stopping.killed) return;
    const due = Math.min(stopping.deadline, deadline);
    if (due <= now) this.#actions.push({ kind: "kill", container });
    else this.#wake(due);
  }

  #keepRunning({ container, role }: RoleContainer, seen: ContainerObservation): void {
    if (isActive(seen)) return;
    const { now } = this.#observation;
    if (seen.current !== undefined && !isRestarted(this.#pod, role, seen.current)) return;
    const notBefore = Math.max(seen.waiting?.until ?? 0, seen.backOff?.until ?? 0);
    if (notBefore > now) return this.#wake(notBefore);
    const attempt = seen.current === undefined ? 0 : seen.current.attempt + 1;
    this.#actions.push({ kind: "start", container: container.name, attempt });
  }

  #wake(at: number): void {
    this.#wakeAt = Math.min(this.#wakeAt ?? at, at);
  }
}
