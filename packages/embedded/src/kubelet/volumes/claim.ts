import type { PersistentVolume, PersistentVolumeClaim } from "@polyvirt/api/k8s";
import { errors } from "../../errors.ts";

/** The path of this machine that a pod's claim stands for, or why there is none. */
export function claimedPath(
  claimName: string,
  found: { claim: PersistentVolumeClaim; volume?: PersistentVolume } | undefined,
): { path: string; readOnly: boolean; block: boolean } {
  if (found === undefined) throw errors.KubeletVolumeRefused(`persistentvolumeclaim "${claimName}" not found`);
  const { claim, volume } = found;
  if (volume === undefined) {
    throw errors.KubeletVolumeRefused(
      `persistentvolumeclaim "${claimName}" is ${claim.status?.phase ?? "Pending"}: it has no volume yet`,
    );
  }
  // A name alone does not make the claim the volume's owner.
  if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
    throw errors.KubeletVolumeRefused(`volume ${volume.metadata.name} belongs to another claim than "${claimName}"`);
  }
  const path = volume.spec?.hostPath?.path ?? volume.spec?.local?.path;
  if (path === undefined) {
    throw errors.KubeletVolumeRefused(`volume ${volume.metadata.name} is neither a hostPath nor a local volume`);
  }
  return {
    path,
    readOnly: volume.spec?.accessModes?.every((mode) => mode === "ReadOnlyMany") === true,
    block: volume.spec?.volumeMode === "Block",
  };
}
