import {
  conditionTypes,
  isFinal,
  withCondition,
  withoutCondition,
  type VirtualMachineInstance,
  type VirtualMachineInstancePhase,
} from "@polyvirt/api";
import { jsonEqual } from "@polyvirt/core";
import { awaitsVolumes, hotplugEvents, hotplugPart, needsHotplug } from "../hotplug/plan.ts";
import { guestEnd, isDomainAlive, livePhase, type GuestEnd } from "./domain-phase.ts";
import type { InstanceAction, InstanceEvent, InstancePlan, ObservedInstance } from "./observed.ts";
import { emulationPart } from "./status/emulation.ts";
import { interfacesPart } from "./status/interfaces.ts";
import { liveMigratablePart } from "./status/live-migratable.ts";
import { machinePart } from "./status/machine.ts";
import { pausePart } from "./status/pause.ts";
import { timestamp, type Status, type StatusPart } from "./status/status-part.ts";

/** What a machine that lives tells about itself, in this order. */
const parts: readonly StatusPart[] = [
  pausePart,
  emulationPart,
  machinePart,
  hotplugPart,
  interfacesPart,
  liveMigratablePart,
];

/** How long a launcher may take to open its socket after its container was started. */
const LAUNCHER_START_LIMIT_MS = 180_000;
/** A starting launcher is looked for often at first, because someone waits for the guest. */
const EAGER_FOR_MS = 15_000;
const EAGER_POLL_MS = 25;
const PATIENT_POLL_MS = 1_000;
const DEFAULT_GRACE_SECONDS = 30;
/** A guest that was asked to let go of a disk may take its time, or not have been listening. */
const HOTPLUG_POLL_MS = 5_000;
/** Kubernetes cuts the time of deletion to whole seconds; the guest gets what was cut. */
const TIMESTAMP_STEP_MS = 1_000;

/**
 * Decides what virt-handler does about one VMI of its node, from the hand-over to the end:
 * - the machine ended: record how, then let the launcher go
 * - the launcher ended without saying how the machine did: Failed
 * - the VMI is deleted: ask the guest to end, and end it when its time is over
 * - otherwise: give the launcher the VMI, and report what the machine does
 */
export function planInstance(observed: ObservedInstance): InstancePlan {
  const { vmi, domain } = observed;
  if (isFinal(vmi)) return { status: undefined, events: [], action: { do: "release" }, requeueAfterMs: undefined };
  const end = endOf(observed);
  if (end !== undefined) return { ...ended(observed, end), action: { do: "release" }, requeueAfterMs: undefined };
  if (observed.launcher === "absent") return waitForLauncher(observed);
  const phase = domain === undefined ? vmi.status?.phase : livePhase(vmi.status?.phase, domain);
  const status = parts.reduce((made, part) => part(made, observed), withPhase(vmi.status ?? {}, phase, observed.now));
  const started = phase === "Running" && vmi.status?.phase !== "Running";
  const { action, events, requeueAfterMs } = nextAction(observed);
  const told = [...hotplugEvents(vmi.status?.volumeStatus ?? [], status.volumeStatus ?? []), ...events];
  return {
    status: jsonEqual(status, vmi.status) ? undefined : status,
    events: started ? [normal("Started", "VirtualMachineInstance started."), ...told] : told,
    action,
    requeueAfterMs,
  };
}

/** How the guest ended, as far as the machine or the launcher's silence tells. */
function endOf({ vmi, domain, launcher, lostReason }: ObservedInstance): GuestEnd | undefined {
  const told = domain === undefined ? undefined : guestEnd(vmi, domain);
  if (told !== undefined) return told;
  if (launcher !== "lost") return undefined;
  if (domain === undefined && vmi.metadata.deletionTimestamp !== undefined) {
    return {
      phase: "Failed",
      reason: "DeletedBeforeStart",
      message: "The VMI was deleted before its guest was started.",
    };
  }
  return {
    phase: "Failed",
    reason: "LauncherLost",
    message: `The launcher ended without reporting the guest's end: ${lostReason ?? "its process is gone"}.`,
  };
}

function ended({ vmi, now }: ObservedInstance, end: GuestEnd): Pick<InstancePlan, "status" | "events"> {
  const at = timestamp(now);
  const status = withPhase({ ...vmi.status, reason: end.reason }, end.phase, now);
  const failed = end.phase === "Failed";
  const conditions = failed
    ? withCondition(
        status.conditions,
        { type: conditionTypes.synchronized, status: "False", reason: end.reason, message: end.message },
        at,
      )
    : status.conditions;
  const ready = withCondition(
    withoutCondition(conditions, conditionTypes.paused),
    {
      type: conditionTypes.ready,
      status: "False",
      reason: "GuestNotRunning",
      message: "the guest is not reported as running",
    },
    at,
  );
  const event: InstanceEvent = { type: failed ? "Warning" : "Normal", reason: "Stopped", message: end.message };
  return { status: { ...status, conditions: ready }, events: [event] };
}

function waitForLauncher(observed: ObservedInstance): InstancePlan {
  const { vmi, now } = observed;
  const waitedMs = now.getTime() - scheduledAt(vmi, now);
  if (waitedMs >= LAUNCHER_START_LIMIT_MS) {
    const message = `The launcher did not open its command socket within ${LAUNCHER_START_LIMIT_MS / 1000} s.`;
    const end: GuestEnd = { phase: "Failed", reason: "LauncherNotReady", message };
    return { ...ended(observed, end), action: { do: "release" }, requeueAfterMs: undefined };
  }
  return {
    status: undefined,
    events: [],
    action: { do: "nothing" },
    requeueAfterMs: waitedMs < EAGER_FOR_MS ? EAGER_POLL_MS : PATIENT_POLL_MS,
  };
}

function scheduledAt(vmi: VirtualMachineInstance, now: Date): number {
  const entry = vmi.status?.phaseTransitionTimestamps?.findLast(({ phase }) => phase === "Scheduled");
  const time = Date.parse(entry?.phaseTransitionTimestamp ?? "");
  return Number.isNaN(time) ? now.getTime() : time;
}

type NextAction = Pick<InstancePlan, "action" | "events" | "requeueAfterMs">;

function nextAction(observed: ObservedInstance): NextAction {
  if (observed.vmi.metadata.deletionTimestamp !== undefined) return stopGuest(observed);
  const { vmi, domain, mountedVolumes } = observed;
  if (domain === undefined && mountedVolumes !== undefined && awaitsVolumes(vmi, mountedVolumes)) {
    // virt-controller names their pod in the status, which is an occasion to look again.
    return { action: { do: "nothing" }, events: [], requeueAfterMs: undefined };
  }
  const hotplug = mountedVolumes !== undefined && needsHotplug(vmi, domain, mountedVolumes);
  const stale = observed.syncedGeneration !== vmi.metadata.generation;
  const action: InstanceAction = stale || hotplug || domain === undefined ? { do: "sync" } : { do: "nothing" };
  return { action, events: [], requeueAfterMs: hotplug ? HOTPLUG_POLL_MS : undefined };
}

function stopGuest({ vmi, domain, shutdownSent, now }: ObservedInstance): NextAction {
  // No machine was started; the launcher ends with its pod, which virt-controller deletes.
  if (!isDomainAlive(domain)) return { action: { do: "nothing" }, events: [], requeueAfterMs: undefined };
  const graceMs = (vmi.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
  const deletedAt = Date.parse(vmi.metadata.deletionTimestamp ?? "") + TIMESTAMP_STEP_MS;
  const remainingMs = graceMs === 0 ? 0 : deletedAt + graceMs - now.getTime();
  // Every guest that is granted time is asked once, however late we come.
  if (remainingMs <= 0 && (shutdownSent || graceMs === 0)) {
    return {
      action: { do: "kill" },
      events: [normal("Deleted", "Signaled Deletion")],
      requeueAfterMs: PATIENT_POLL_MS,
    };
  }
  if (shutdownSent) return { action: { do: "nothing" }, events: [], requeueAfterMs: remainingMs };
  const events = [normal("ShuttingDown", "Signaled Graceful Shutdown")];
  return { action: { do: "shutdown" }, events, requeueAfterMs: Math.max(remainingMs, PATIENT_POLL_MS) };
}

function withPhase(status: Status, phase: VirtualMachineInstancePhase | undefined, now: Date): Status {
  if (phase === undefined || status.phase === phase) return status;
  const entry = { phase, phaseTransitionTimestamp: timestamp(now) };
  return { ...status, phase, phaseTransitionTimestamps: [...(status.phaseTransitionTimestamps ?? []), entry] };
}

function normal(reason: string, message: string): InstanceEvent {
  return { type: "Normal", reason, message };
}
