import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@polyvirt/api/k8s";
import type { NodeState } from "./snapshot.ts";
import { findVolume, isReachable, selectedNodeAnnotation, waitsForConsumer } from "./volume-match.ts";

/** What the scheduler looks claims up in. */
export interface StorageView {
  claim(name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  volumes(): readonly PersistentVolume[];
}

/** What a pod's claims mean for where it can go. */
export interface ClaimRules {
  /** Why it cannot go anywhere, in kube-scheduler's words. */
  readonly problem?: string;
  /** Claims that get their volume once the pod has a node. */
  readonly waiting: readonly PersistentVolumeClaim[];
  reasonsAgainst(state: NodeState): string[];
}

const noProvisioner = "kubernetes.io/no-provisioner";

export const noClaims: ClaimRules = { waiting: [], reasonsAgainst: () => [] };

export function createClaimRules(pod: Pod, view: StorageView): ClaimRules {
  const names = (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim: used }) => used?.claimName ?? []);
  if (names.length === 0) return noClaims;
  const bound: PersistentVolume[] = [];
  const waiting: PersistentVolumeClaim[] = [];
  for (const name of names) {
    const claim = view.claim(name);
    const problem = claimProblem(name, claim);
    if (problem !== undefined) return { ...noClaims, problem };
    const volume = claim?.status?.phase === "Bound" ? view.volume(claim.spec?.volumeName ?? "") : undefined;
    if (volume !== undefined) bound.push(volume);
    if (claim === undefined || claim.status?.phase === "Bound") continue;
    if (!waitsForConsumer(view.storageClass(claim.spec?.storageClassName ?? ""))) {
      return { ...noClaims, problem: "pod has unbound immediate PersistentVolumeClaims" };
    }
    waiting.push(claim);
  }
  return {
    waiting,
    reasonsAgainst({ node }) {
      if (!bound.every((volume) => isReachable(volume, node))) return ["node(s) had volume node affinity conflict"];
      const served = waiting.every((claim) => {
        const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
        if (selected !== undefined && selected !== node.metadata.name) return false;
        if (findVolume(view.volumes(), claim, node) !== undefined) return true;
        return view.storageClass(claim.spec?.storageClassName ?? "")?.provisioner !== noProvisioner;
      });
      return served ? [] : ["node(s) didn't find available persistent volumes to bind"];
    },
  };
}

function claimProblem(name: string, claim: PersistentVolumeClaim | undefined): string | undefined {
  if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  if (claim.status?.phase === "Lost") return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume`;
  return undefined;
}
