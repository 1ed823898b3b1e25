import type { Pod } from "@polyvirt/api/k8s";
import type { StatusDraft } from "./draft.ts";
import type { ObservedVmi } from "./observed.ts";
import { describePodEnd, isPodFinished, podEndTime } from "./pod-state.ts";

/**
 * After the hand-over virt-handler reports how a guest ended. When it cannot, because its node or itself is gone, the
 * controller ends the VMI this long after the pod did.
 */
export const HANDLER_GRACE_MS = 15_000;

/** Watches over a VMI that virt-handler owns. Returns when to look again. */
export function overseeHandler(observed: ObservedVmi, pod: Pod | undefined, draft: StatusDraft): number | undefined {
  if (pod === undefined) {
    const remaining = HANDLER_GRACE_MS - observed.podMissingForMs;
    if (remaining > 0) return remaining;
    draft.fail(
      "LauncherPodMissing",
      "the launcher pod does not exist any more and the node did not report the guest's end",
    );
    return undefined;
  }
  if (!isPodFinished(pod)) return undefined;
  const remaining = HANDLER_GRACE_MS - (observed.now.getTime() - (podEndTime(pod)?.getTime() ?? 0));
  if (remaining > 0) return remaining;
  draft.fail("LauncherPodFailed", `${describePodEnd(pod)}, and the node did not report the guest's end`);
  return undefined;
}
