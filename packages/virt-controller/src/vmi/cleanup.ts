import { finalizers, isFinal, type VirtualMachineInstance } from "@polyvirt/api";
import type { Pod } from "@polyvirt/api/k8s";
import type { ObservedVmi } from "./observed.ts";
import { isPodFinished, isPodTerminating } from "./pod-state.ts";

/** A launcher ends by itself when its guest has. One that does not is deleted after this time. */
const LINGER_MS = 60_000;
/** One whose guest never started has nothing to end with; its last words need no more than this. */
const NEVER_STARTED_LINGER_MS = 2_000;

interface Cleanup {
  readonly deletePods: readonly Pod[];
  /** The VMI may go: nothing of it is left. */
  readonly release: boolean;
  readonly requeueAfterMs: number | undefined;
}

/** Which pods must go, and whether the VMI itself may. `status` is the one that is about to be written. */
export function cleanUp(observed: ObservedVmi, status: VirtualMachineInstance["status"]): Cleanup {
  const { vmi, pods } = observed;
  const deleted = vmi.metadata.deletionTimestamp !== undefined;
  const final = isFinal(status === undefined ? {} : { status });
  const alive = pods.filter((pod) => !isPodTerminating(pod));
  if (deleted) {
    const held = vmi.metadata.finalizers?.includes(finalizers.virtualMachineInstance) === true;
    return { deletePods: alive, release: held && final && pods.every(isPodFinished), requeueAfterMs: undefined };
  }
  if (!final) return { deletePods: [], release: false, requeueAfterMs: undefined };
  const lingering = alive.filter((pod) => !isPodFinished(pod));
  if (lingering.length === 0) return { deletePods: [], release: false, requeueAfterMs: undefined };
  const since = Date.parse(status?.phaseTransitionTimestamps?.at(-1)?.phaseTransitionTimestamp ?? "") || 0;
  const started = status?.phaseTransitionTimestamps?.some(({ phase }) => phase === "Running") === true;
  const remaining = (started ? LINGER_MS : NEVER_STARTED_LINGER_MS) - (observed.now.getTime() - since);
  return remaining > 0
    ? { deletePods: [], release: false, requeueAfterMs: remaining }
    : { deletePods: lingering, release: false, requeueAfterMs: undefined };
}
