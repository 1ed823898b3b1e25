import type { Container, Probe } from "@polyvirt/api/k8s";

export type ProbeKind = "startup" | "readiness" | "liveness";

export interface ProbeResult {
  readonly success: boolean;
  readonly message: string;
}

/** How a probe stands after the results so far. */
export interface ProbeState {
  readonly verdict: "unknown" | "success" | "failure";
  /** Equal results in a row, the latest included. */
  readonly streak: number;
  readonly lastSuccess?: boolean;
}

export const initialProbeState: ProbeState = { verdict: "unknown", streak: 0 };

/** A verdict changes when enough equal results came in a row. */
export function foldProbe(state: ProbeState, success: boolean, probe: Probe): ProbeState {
  const streak = state.lastSuccess === success ? state.streak + 1 : 1;
  const threshold = success ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
  const verdict = streak >= threshold ? (success ? "success" : "failure") : state.verdict;
  return { verdict, streak, lastSuccess: success };
}

export interface ContainerVerdict {
  readonly started: boolean;
  readonly ready: boolean;
  readonly failedProbe?: ProbeKind;
}

/** What the states of a container's probes mean together. */
export function containerVerdict(
  container: Container,
  states: Readonly<Partial<Record<ProbeKind, ProbeState>>>,
): ContainerVerdict {
  const started = container.startupProbe === undefined || states.startup?.verdict === "success";
  const ready = started && (container.readinessProbe === undefined || states.readiness?.verdict === "success");
  const failed = (["startup", "liveness"] as const).find((kind) => states[kind]?.verdict === "failure");
  return { started, ready, ...(failed === undefined ? {} : { failedProbe: failed }) };
}
