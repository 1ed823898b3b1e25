import type { PersistentVolumeClaim, Pod } from "@polyvirt/api/k8s";
import type { AttachedVolume } from "./attachment-pod.ts";

/** What deciding about a guest's hotplugged volumes depends on, beside the VMI. */
export interface ObservedHotplug {
  /** Pods that belong to the launcher pod, by owner UID. */
  readonly attachments: readonly Pod[];
  /** Those of the claims that exist, by name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
}

export interface HotplugPlan {
  /** What the new attachment pod has to hold; undefined when none is to be made. */
  readonly attach: readonly AttachedVolume[] | undefined;
  readonly deleteAttachments: readonly Pod[];
  /** Claims are not watched: look at them again when one is missing or not bound. */
  readonly awaitsClaim: boolean;
}
