import type { VirtualMachineInstance } from "@polyvirt/api";
import type { ObjectMeta, Pod } from "@polyvirt/api/k8s";
import type { HotplugPlan, ObservedHotplug } from "../hotplug/observed.ts";
import type { Placement, PossiblePlacement } from "../placement/placement.ts";

/** Everything that deciding about one VMI depends on. */
export interface ObservedVmi {
  readonly vmi: VirtualMachineInstance;
  /** Pods that this VMI controls, by owner UID. */
  readonly pods: readonly Pod[];
  /** For how long a pod that should be there has been missing. */
  readonly podMissingForMs: number;
  /** Where the guest may run; only asked for as long as it has no pod. */
  readonly placement: () => Placement;
  /** Only for a VMI with volumes that come and go. */
  readonly hotplug?: ObservedHotplug | undefined;
  /** As whom the launcher runs. */
  readonly launcherUser: number;
  /** The guest's address for sockets between it and its node; only asked for by guests that have such sockets. */
  readonly contextId: () => number;
  readonly now: Date;
}

/** What is to be done, in this order. Each list may be empty; `status` is written once, at the end. */
export interface VmiPlan {
  /** Where to make the pod; undefined when none is to be made. */
  readonly createPod: PossiblePlacement | undefined;
  readonly deletePods: readonly Pod[];
  readonly hotplug: HotplugPlan;
  readonly podConditions: readonly { readonly pod: Pod; readonly status: "True" | "False"; readonly reason: string }[];
  /** Written before the status. */
  readonly metadata: VmiMetadataChange | undefined;
  readonly status: VirtualMachineInstance["status"] | undefined;
  /** Remove our finalizer: the last write to this VMI. */
  readonly release: boolean;
  readonly events: readonly VmiEvent[];
  readonly requeueAfterMs: number | undefined;
}

export type VmiMetadataChange = Pick<ObjectMeta, "labels" | "finalizers">;

export interface VmiEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}
