import { conditionTypes, getCondition, isConditionTrue, isRunning, unpausedReadinessGate } from "@polyvirt/api";
import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@polyvirt/api";
import type { Condition, Pod } from "@polyvirt/api/k8s";
import type { StatusDraft } from "./draft.ts";
import type { VmiPlan } from "./observed.ts";
import { isPodTerminating } from "./pod-state.ts";

/** The VMI is ready when its pod is: services and rollouts look at either. */
export function mirrorReadiness(vmi: VirtualMachineInstance, pod: Pod | undefined, draft: StatusDraft): void {
  draft.setCondition({ type: conditionTypes.ready, ...readinessOf(vmi, pod, draft.phase) });
}

function readinessOf(
  vmi: VirtualMachineInstance,
  pod: Pod | undefined,
  phase: VirtualMachineInstancePhase | undefined,
): Omit<Condition, "type"> {
  // The phase may have changed in this very plan: a guest that is ending is not ready any more.
  if (!isRunning(vmi) || phase !== "Running") {
    return { status: "False", reason: "GuestNotRunning", message: "the guest is not reported as running" };
  }
  if (pod === undefined) {
    return { status: "False", reason: "PodNotExists", message: "the launcher pod does not exist" };
  }
  if (isPodTerminating(pod)) return { status: "False", reason: "PodTerminating", message: "the launcher pod ends" };
  const ready = getCondition(pod.status, "Ready");
  if (ready === undefined) {
    return { status: "False", reason: "PodConditionMissing", message: "the launcher pod has no Ready condition" };
  }
  if (ready.status === "True") return { status: "True" };
  return {
    status: ready.status,
    reason: ready.reason ?? "PodNotReady",
    message: ready.message ?? "the launcher pod is not ready",
  };
}

/** The pod's readiness gate follows the guest: open while it runs and is not paused. */
export function gateOf(vmi: VirtualMachineInstance, pod: Pod): VmiPlan["podConditions"] {
  const current = getCondition(pod.status, unpausedReadinessGate);
  const paused = isConditionTrue(vmi.status, conditionTypes.paused);
  // Nobody waits for the gate before the guest runs, so nothing is written until then.
  if (!isRunning(vmi) || isPodTerminating(pod)) return [];
  const status = paused ? "False" : "True";
  if (current?.status === status) return [];
  return [{ pod, status, reason: paused ? "Paused" : "NotPaused" }];
}
