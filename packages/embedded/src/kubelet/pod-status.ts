import type { Condition, ContainerState, ContainerStatus, Pod, PodPhase, PodStatus } from "@polyvirt/api/k8s";
import { requestsOf, amountsOf } from "../scheduler/resource-amount.ts";
import { isPodDone } from "./pod-plan.ts";
import {
  containersOf,
  isActive,
  isRestarted,
  observationOf,
  type ContainerObservation,
  type ContainerRole,
  type Instance,
  type PodObservation,
  type RoleContainer,
} from "./pod-observation.ts";

interface PodFacts {
  readonly hostIP: string;
  readonly podIP?: string;
  readonly startTime: number;
}

/** The status that the API server should show: derived from the observation, so the same facts give the same status. */
export function podStatus(pod: Pod, observation: PodObservation, facts: PodFacts): PodStatus {
  const statuses = containersOf(pod).map((entry) => ({ ...entry, status: containerStatus(pod, entry, observation) }));
  const phase = podPhase(pod, observation);
  const withRole = (...roles: ContainerRole[]): ContainerStatus[] =>
    statuses.filter(({ role }) => roles.includes(role)).map(({ status }) => status);
  const init = withRole("init", "sidecar");
  const ephemeral = withRole("ephemeral");
  const ended = observation.ended;
  return {
    phase,
    conditions: podConditions(pod, observation, phase, statuses),
    hostIP: facts.hostIP,
    hostIPs: [{ ip: facts.hostIP }],
    ...(facts.podIP === undefined ? {} : { podIP: facts.podIP, podIPs: [{ ip: facts.podIP }] }),
    startTime: rfc3339(facts.startTime),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: withRole("main"),
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
    qosClass: pod.status?.qosClass ?? qosClass(pod),
    ...(ended === undefined ? {} : { reason: ended.reason, message: ended.message }),
  };
}

function podPhase(pod: Pod, observation: PodObservation): PodPhase {
  const before = pod.status?.phase;
  if (before === "Succeeded" || before === "Failed") return before;
  const all = containersOf(pod);
  if (observation.ended !== undefined) {
    return all.some(({ container }) => isActive(observationOf(observation, container.name)))
      ? (before ?? "Pending")
      : "Failed";
  }
  const mains = all.filter(({ role }) => role === "main");
  const current = (entry: RoleContainer): Instance | undefined =>
    observationOf(observation, entry.container.name).current;
  if (isPodDone(pod, observation)) {
    // Restartable init containers are still to be ended; the phase waits for them.
    const waiting = all.some(({ container }) => isActive(observationOf(observation, container.name)));
    if (waiting) return before === "Running" ? "Running" : "Pending";
    const failed = all.some((entry) => (entry.role === "init" || entry.role === "main") && isBadEnd(current(entry)));
    return failed ? "Failed" : "Succeeded";
  }
  const allBegun = mains.every((entry) => current(entry) !== undefined && current(entry)?.phase !== "starting");
  const anyBegun = mains.some((entry) => current(entry)?.startedAt !== undefined);
  return allBegun || (anyBegun && before === "Running") ? "Running" : "Pending";
}

function isBadEnd(instance: Instance | undefined): boolean {
  return instance?.phase === "exited" && instance.exitCode !== 0;
}

function containerStatus(pod: Pod, { container, role }: RoleContainer, observation: PodObservation): ContainerStatus {
  const seen = observationOf(observation, container.name);
  const { current, previous } = seen;
  const running = current?.phase === "running";
  const state = containerState(pod, { container, role }, seen, observation);
  // A run that ended moves to lastState as soon as the container waits for its next run.
  const shown = current?.phase === "exited" && state.waiting !== undefined ? current : previous;
  const image = container.image ?? "";
  return {
    name: container.name,
    state,
    lastState: shown === undefined ? {} : { terminated: terminated(pod, container.name, shown) },
    ready: isReady(role, seen),
    started: role !== "init" && role !== "ephemeral" && running && seen.started,
    restartCount: current?.attempt ?? 0,
    image,
    imageID: current === undefined ? "" : image,
    ...(current === undefined ? {} : { containerID: containerId(pod, container.name, current.attempt) }),
  };
}

function isReady(role: ContainerRole, { current, ready }: ContainerObservation): boolean {
  if (role === "init") return current?.phase === "exited" && current.exitCode === 0;
  return role !== "ephemeral" && current?.phase === "running" && ready;
}

function containerId(pod: Pod, container: string, attempt: number): string {
  return `polyvirt://${pod.metadata.uid}/${container}/${attempt}`;
}

function containerState(
  pod: Pod,
  { container, role }: RoleContainer,
  seen: ContainerObservation,
  observation: PodObservation,
): ContainerState {
  const { current } = seen;
  if (current?.phase === "running") return { running: { startedAt: rfc3339(current.startedAt ?? observation.now) } };
  const ending = pod.metadata.deletionTimestamp !== undefined || observation.ended !== undefined;
  if (current?.phase === "exited") {
    const again = !ending && isRestarted(pod, role, current);
    if (again && seen.waiting !== undefined) {
      return { waiting: { reason: seen.waiting.reason, message: seen.waiting.message } };
    }
    if (again && seen.backOff !== undefined && seen.backOff.until > observation.now) {
      return {
        waiting: { reason: "CrashLoopBackOff", message: crashLoopMessage(pod, container.name, seen.backOff.delayMs) },
      };
    }
    return { terminated: terminated(pod, container.name, current) };
  }
  if (seen.waiting !== undefined) return { waiting: { reason: seen.waiting.reason, message: seen.waiting.message } };
  const inits = role !== "ephemeral" && (pod.spec.initContainers ?? []).length > 0;
  return { waiting: { reason: inits && !isInitialized(pod, observation) ? "PodInitializing" : "ContainerCreating" } };
}

export function crashLoopMessage(pod: Pod, container: string, delayMs: number): string {
  const { name, namespace, uid } = pod.metadata;
  return `back-off ${goSeconds(delayMs)} restarting failed container=${container} pod=${name}_${namespace}(${uid})`;
}

/** Whole seconds as Go prints a duration: 10s, 1m20s, 5m0s. */
function goSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function terminated(pod: Pod, container: string, instance: Instance): NonNullable<ContainerState["terminated"]> {
  const exitCode = instance.exitCode ?? 0;
  return {
    exitCode,
    reason: instance.reason ?? (exitCode === 0 ? "Completed" : "Error"),
    ...(instance.message === undefined ? {} : { message: instance.message }),
    ...(instance.startedAt === undefined ? {} : { startedAt: rfc3339(instance.startedAt) }),
    ...(instance.finishedAt === undefined ? {} : { finishedAt: rfc3339(instance.finishedAt) }),
    containerID: containerId(pod, container, instance.attempt),
  };
}

function isInitialized(pod: Pod, observation: PodObservation): boolean {
  return containersOf(pod).every(({ container, role }) => {
    const seen = observationOf(observation, container.name);
    if (role === "main" || role === "ephemeral") return true;
    if (role === "sidecar") return seen.started;
    return seen.current?.phase === "exited" && seen.current.exitCode === 0;
  });
}

type StatusEntry = RoleContainer & { readonly status: ContainerStatus };

function podConditions(
  pod: Pod,
  observation: PodObservation,
  phase: PodPhase,
  entries: readonly StatusEntry[],
): Condition[] {
  const begun = pod.spec.containers.some(({ name }) => observationOf(observation, name).current !== undefined);
  const initialized = begun || isInitialized(pod, observation);
  const unreadyInit = entries.filter(({ role, status }) => role === "init" && !status.ready).map(nameOf);
  const unready = entries
    .filter(({ role, status }) => (role === "main" || role === "sidecar") && !status.ready)
    .map(nameOf);
  const containersReady = whetherReady(phase, unready);
  const gates = (pod.spec.readinessGates ?? []).filter(({ conditionType }) => {
    const condition = pod.status?.conditions?.find(({ type }) => type === conditionType);
    return condition?.status !== "True";
  });
  const ready: Verdict =
    containersReady === true && gates.length > 0
      ? {
          reason: "ReadinessGatesNotReady",
          message: gates.map(({ conditionType }) => gateMessage(pod, conditionType)).join(", "),
        }
      : containersReady;
  const verdicts: [string, Verdict][] = [
    ["PodReadyToStartContainers", observation.prepared && phase !== "Succeeded" && phase !== "Failed" ? true : {}],
    [
      "Initialized",
      initialized
        ? phase === "Succeeded"
          ? { status: "True", reason: "PodCompleted" }
          : true
        : {
            reason: "ContainersNotInitialized",
            message: `containers with incomplete status: [${unreadyInit.join(" ")}]`,
          },
    ],
    ["Ready", ready],
    ["ContainersReady", containersReady],
    ["PodScheduled", true],
  ];
  return verdicts.map(([type, verdict]) => transition(pod, type, verdict, observation.now));
}

/** True, or why not. */
type Verdict = true | { readonly status?: "True"; readonly reason?: string; readonly message?: string };

function whetherReady(phase: PodPhase, unready: readonly string[]): Verdict {
  if (phase === "Succeeded") return { reason: "PodCompleted" };
  if (phase === "Failed") return { reason: "PodFailed" };
  if (unready.length === 0) return true;
  return { reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
}

function gateMessage(pod: Pod, type: string): string {
  const known = pod.status?.conditions?.some((condition) => condition.type === type) ?? false;
  return known
    ? `the status of pod readiness gate "${type}" is not "True", but False`
    : `corresponding condition of pod readiness gate "${type}" does not exist.`;
}

function nameOf({ container }: StatusEntry): string {
  return container.name;
}

/** Keeps the time of the last change while the status stays the same. */
function transition(pod: Pod, type: string, verdict: Verdict, now: number): Condition {
  const status = verdict === true || verdict.status === "True" ? "True" : "False";
  const before = pod.status?.conditions?.find((condition) => condition.type === type);
  const kept = before?.status === status ? before.lastTransitionTime : undefined;
  return {
    type,
    status,
    ...(verdict === true ? {} : pickReason(verdict)),
    lastProbeTime: null,
    lastTransitionTime: kept ?? rfc3339(now),
  };
}

function pickReason({ reason, message }: { reason?: string; message?: string }): { reason?: string; message?: string } {
  return { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) };
}

/** Kubernetes prints whole seconds. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

export function qosClass(pod: Pick<Pod, "spec">): NonNullable<PodStatus["qosClass"]> {
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const relevant = containers.map((container) => ({
    requests: requestsOf(container),
    limits: amountsOf(container.resources?.limits),
  }));
  const has = (amounts: ReadonlyMap<string, number>, name: string): boolean => (amounts.get(name) ?? 0) > 0;
  const names = ["cpu", "memory"];
  if (!relevant.some(({ requests }) => names.some((name) => has(requests, name)))) return "BestEffort";
  const guaranteed = relevant.every(({ requests, limits }) =>
    names.every((name) => has(limits, name) && requests.get(name) === limits.get(name)),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}
