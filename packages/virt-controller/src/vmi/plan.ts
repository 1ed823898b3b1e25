import { finalizers, type VirtualMachineInstance } from "@polyvirt/api";
import { jsonEqual } from "@polyvirt/core";
import type { Pod } from "@polyvirt/api/k8s";
import { planHotplug } from "../hotplug/plan.ts";
import { cleanUp } from "./cleanup.ts";
import { StatusDraft } from "./draft.ts";
import type { ObservedVmi, VmiMetadataChange, VmiPlan } from "./observed.ts";
import type { PossiblePlacement } from "../placement/placement.ts";
import { setInitialStatus } from "./initial-status.ts";
import { overseeHandler } from "./oversight.ts";
import { isPodFinished, isPodTerminating } from "./pod-state.ts";
import { gateOf, mirrorReadiness } from "./readiness.ts";
import { followScheduling } from "./scheduling.ts";

/**
 * Decides what virt-controller does about one VMI:
 * - no pod yet: make one where the guest can run; Pending → Scheduling, or Failed when it can run nowhere
 * - pod exists: mirror why it waits; when its containers are ready hand over: Scheduling → Scheduled
 * - handed over: only look after pod readiness, and end the VMI when pod and virt-handler are both silent
 * - deleted: delete the pods; when the guest has ended and no pod runs, remove the finalizer
 */
export function planVmi(observed: ObservedVmi): VmiPlan {
  const { vmi } = observed;
  const draft = new StatusDraft(vmi, observed.now);
  const pod = currentPod(observed.pods);
  const stage = decideStage(observed, pod, draft);
  const podConditions = pod === undefined ? [] : gateOf(vmi, pod);
  // The pod's readiness is about to change by our own hand; mirroring it before would be a write for nothing.
  if (podConditions.length === 0) mirrorReadiness(vmi, pod, draft);
  const hotplug = planHotplug(vmi, pod, observed.hotplug, draft);
  const cleanup = cleanUp(observed, draft.status);
  return {
    createPod: stage.createPod,
    deletePods: cleanup.deletePods,
    hotplug,
    podConditions,
    metadata: stage.metadata,
    status: jsonEqual(draft.status, vmi.status ?? {}) ? undefined : draft.status,
    release: cleanup.release,
    events: draft.events,
    requeueAfterMs: earliest(stage.requeueAfterMs, cleanup.requeueAfterMs),
  };
}

interface Stage {
  readonly createPod?: PossiblePlacement;
  readonly metadata?: VmiMetadataChange | undefined;
  readonly requeueAfterMs?: number | undefined;
}

function decideStage(observed: ObservedVmi, pod: Pod | undefined, draft: StatusDraft): Stage {
  const deleted = observed.vmi.metadata.deletionTimestamp !== undefined;
  switch (draft.phase) {
    case undefined:
    case "Pending":
      if (pod !== undefined) return { metadata: followScheduling(observed, pod, draft) };
      if (deleted) {
        draft.fail("DeletedBeforeStart", "the VMI was deleted before its launcher pod was made");
        return {};
      }
      setInitialStatus(observed.vmi, observed.launcherUser, draft);
      return startScheduling(observed, draft);
    case "Scheduling":
      if (pod !== undefined) return { metadata: followScheduling(observed, pod, draft) };
      draft.fail(
        deleted ? "DeletedBeforeStart" : "LauncherPodMissing",
        deleted ? "the VMI was deleted before its guest was started" : "the launcher pod was deleted by someone else",
      );
      return {};
    case "Scheduled":
    case "Running":
    case "Unknown":
      return { requeueAfterMs: overseeHandler(observed, pod, draft) };
    case "Succeeded":
    case "Failed":
    case "WaitingForSync":
      return {};
  }
}

function startScheduling({ vmi, ...observed }: ObservedVmi, draft: StatusDraft): Stage {
  const placement = observed.placement();
  if (placement.mode === "impossible") {
    draft.fail(placement.reason, placement.message);
    return {};
  }
  draft.setPhase("Scheduling");
  return { createPod: placement, metadata: addedFinalizer(vmi) };
}

/** Admission sets it; a VMI that came past admission must not vanish while its pod runs. */
function addedFinalizer({ metadata }: VirtualMachineInstance): VmiMetadataChange | undefined {
  const current = metadata.finalizers ?? [];
  if (current.includes(finalizers.virtualMachineInstance)) return undefined;
  return { finalizers: [...current, finalizers.virtualMachineInstance] };
}

/** Of several pods the one that lives counts. */
function currentPod(pods: readonly Pod[]): Pod | undefined {
  return pods.find((pod) => !isPodFinished(pod) && !isPodTerminating(pod)) ?? pods[0];
}

/** Of two times, of which either may be missing. */
export function earliest(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}
