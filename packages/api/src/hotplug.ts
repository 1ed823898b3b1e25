/**
 * How volumes reach a guest that runs already: a pod of its own holds their claims, so that the kubelet mounts them, and
 * virt-handler shows what is mounted there to the launcher. virt-controller makes that pod, virt-handler finds its way in
 * it, and the launcher finds the disks.
 */
import type { Volume } from "./gen/types.ts";

export const attachmentPod = {
  /** Role label of such pods. */
  role: "hotplug-disk",
  /** An empty folder by which virt-handler recognises the pod's processes. */
  marker: { volume: "hotplug-disks", mountPath: "/path" },
  container: "hotplug-disk",
  /** Where a claim's file system is mounted. */
  directory: (volume: string) => `/volumes/${volume}`,
  /** Where a claim's device is. */
  device: (volume: string) => `/dev/hotplug/${volume}`,
} as const;

/** The launcher's folder in which hotplugged disks appear. */
export const hotplugDisks = { volume: "hotplug-disks", mountPath: "/var/run/kubevirt/hotplug-disks" } as const;

/** The name of a volume's disk in that folder. A claim with a file system has one disk image in it. */
export const hotplugDiskName = (volume: string, mode: string | undefined): string =>
  mode === "Block" ? volume : `${volume}.img`;

/** Volumes that are attached through such a pod, and may come and go while the guest runs. */
export function isHotpluggable(volume: Volume): boolean {
  return (volume.persistentVolumeClaim ?? volume.dataVolume)?.hotpluggable === true;
}

/** The claim of a volume: a data volume is kept in the claim of its name. */
export function claimOf({ persistentVolumeClaim, dataVolume }: Volume): string | undefined {
  return persistentVolumeClaim?.claimName ?? dataVolume?.name;
}
