import type { Container, Pod } from "@polyvirt/api/k8s";

/** One run of a container: `attempt` is what Kubernetes counts as restarts. */
export interface Instance {
  readonly attempt: number;
  readonly phase: "starting" | "running" | "exited";
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly exitCode?: number;
  /** Completed, Error, OOMKilled, StartError, ContainerStatusUnknown … */
  readonly reason?: string;
  readonly message?: string;
  /** The node ended it, not the program itself: this end is no crash. */
  readonly interrupted?: true;
}

/** What the kubelet knows about one container of a pod. */
export interface ContainerObservation {
  readonly current?: Instance;
  readonly previous?: Instance;
  /** It could not be started (image, environment, mounts): why, and when to try again. */
  readonly waiting?: { readonly reason: string; readonly message: string; readonly until: number };
  /** It ended and must not be started again before this time. */
  readonly backOff?: { readonly until: number; readonly delayMs: number };
  /** Passed its startup probe, or runs and has none. */
  readonly started: boolean;
  /** Runs and passes its readiness probe, or has none. */
  readonly ready: boolean;
  /** A liveness or startup probe gave up on the current run. */
  readonly failedProbe?: string;
  /** It was asked to end and is killed at the deadline. */
  readonly stopping?: { readonly deadline: number; readonly killed: boolean };
}

export interface PodObservation {
  readonly now: number;
  /** Volumes are there and the pod has its address. */
  readonly prepared: boolean;
  /** Preparing failed and is tried again then. */
  readonly prepareAgainAt?: number;
  readonly containers: ReadonlyMap<string, ContainerObservation>;
  /** Set when the kubelet itself ends the pod: deadline, eviction, a field it cannot honour. */
  readonly ended?: { readonly reason: string; readonly message: string };
  /** The node is shutting down: nothing is started any more. */
  readonly halting?: true;
}

/**
 * An ordinary container, an init container, an init container that keeps running beside the others, or one that was
 * added to the running pod for debugging.
 */
export type ContainerRole = "main" | "init" | "sidecar" | "ephemeral";

export interface RoleContainer {
  readonly container: Container;
  readonly role: ContainerRole;
}

const nothing: ContainerObservation = { started: false, ready: false };

export function observationOf(observation: PodObservation, name: string): ContainerObservation {
  return observation.containers.get(name) ?? nothing;
}

/** Init containers in their order, then the others, then those for debugging. */
export function containersOf(pod: Pick<Pod, "spec">): RoleContainer[] {
  return [
    ...(pod.spec.initContainers ?? []).map((container): RoleContainer => ({
      container,
      role: container.restartPolicy === "Always" ? "sidecar" : "init",
    })),
    ...pod.spec.containers.map((container): RoleContainer => ({ container, role: "main" })),
    ...(pod.spec.ephemeralContainers ?? []).map((container): RoleContainer => ({ container, role: "ephemeral" })),
  ];
}

export function isActive(observation: ContainerObservation): boolean {
  return observation.current?.phase === "running" || observation.current?.phase === "starting";
}

/** Whether a run that ended is followed by another one. */
export function isRestarted(pod: Pick<Pod, "spec">, role: ContainerRole, instance: Instance): boolean {
  const policy = pod.spec.restartPolicy ?? "Always";
  const failed = instance.exitCode !== 0;
  switch (role) {
    case "sidecar":
      return true;
    case "init":
      return failed && policy !== "Never";
    case "main":
      return policy === "Always" || (policy === "OnFailure" && failed);
    case "ephemeral":
      return false;
  }
}
