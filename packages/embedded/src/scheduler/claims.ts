import type { PersistentVolumeClaim, Pod } from "@polyvirt/api/k8s";

/** Why a pod cannot run anywhere because of its claims, in kube-scheduler's words; undefined when it can. */
export function claimProblem(pod: Pod, find: (name: string) => PersistentVolumeClaim | undefined): string | undefined {
  for (const { persistentVolumeClaim: used } of pod.spec.volumes ?? []) {
    if (used === undefined) continue;
    const claim = find(used.claimName);
    if (claim === undefined) return `persistentvolumeclaim "${used.claimName}" not found`;
    if (claim.metadata.deletionTimestamp !== undefined)
      return `persistentvolumeclaim "${used.claimName}" is being deleted`;
    if (claim.status?.phase === "Lost")
      return `persistentvolumeclaim "${used.claimName}" bound to non-existent persistentvolume`;
    if (claim.status?.phase !== "Bound") return "pod has unbound immediate PersistentVolumeClaims";
  }
  return undefined;
}
