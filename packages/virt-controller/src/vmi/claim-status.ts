import type { VirtualMachineInstance, VolumeStatus } from "@polyvirt/api";
import type { PersistentVolumeClaim } from "@polyvirt/api/k8s";

type Status = NonNullable<VirtualMachineInstance["status"]>;

/** Notes what the claims behind the volumes are like: virt-handler may not look at claims, but decides by them. */
export function withClaimStatus(
  status: Status,
  { spec }: VirtualMachineInstance,
  claims: ReadonlyMap<string, PersistentVolumeClaim>,
  stateClaim?: PersistentVolumeClaim,
): Status {
  const volumes = (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim }): VolumeStatus[] => {
    const claim = claims.get(persistentVolumeClaim?.claimName ?? "");
    return claim === undefined ? [] : [{ name, target: "", persistentVolumeClaimInfo: describeClaim(claim) }];
  });
  // No volume of the VMI, so it goes by the name of the claim.
  const state = stateClaim === undefined ? [] : [describeState(stateClaim)];
  const noted = [...volumes, ...state];
  return noted.length === 0 ? status : { ...status, volumeStatus: noted };
}

function describeState(claim: PersistentVolumeClaim): VolumeStatus {
  return { name: claim.metadata.name ?? "", target: "", persistentVolumeClaimInfo: describeClaim(claim) };
}

/** What others need to know of a claim. */
export function describeClaim({ metadata, spec, status }: PersistentVolumeClaim) {
  const requests = spec?.resources?.requests;
  return {
    ...(metadata.name === undefined ? {} : { claimName: metadata.name }),
    ...(spec?.accessModes === undefined ? {} : { accessModes: [...spec.accessModes] }),
    ...(status?.capacity === undefined ? {} : { capacity: status.capacity }),
    ...(requests === undefined ? {} : { requests }),
    volumeMode: spec?.volumeMode ?? "Filesystem",
  };
}
