import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@polyvirt/api/k8s";
import { isFinished } from "../scheduler/snapshot.ts";
import { findVolume, selectedNodeAnnotation, waitsForConsumer } from "../scheduler/volume-match.ts";

/** Our provisioner: a directory of this machine for each claim. */
const provisionerName = "polyvirt.io/local-directory";
/** In the directory of a claim with volumeMode Block: what its device shows. */
const diskFile = "disk.img";
export const claimProtection = "kubernetes.io/pvc-protection";
const provisionedBy = "pv.kubernetes.io/provisioned-by";
const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";

/** The class that every cluster has unless somebody has made another default. */
export const localStorageClass: StorageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "local", annotations: { [defaultClassAnnotation]: "true" } },
  provisioner: provisionerName,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
};

export type ClaimPlan =
  | { readonly kind: "nothing" }
  | { readonly kind: "choose-class"; readonly className: string }
  | { readonly kind: "bind"; readonly volume: PersistentVolume }
  | { readonly kind: "provision"; readonly volume: PersistentVolume }
  | { readonly kind: "refuse"; readonly reason: string; readonly message: string }
  /** It is being deleted and nobody uses it any more. */
  | { readonly kind: "let-go" };

interface VolumeWorld {
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  /** Where provisioned directories are made. */
  readonly directory: string;
}

/** What to do next for a claim. Pure. */
export function planClaim(claim: PersistentVolumeClaim, world: VolumeWorld): ClaimPlan {
  if (claim.metadata.deletionTimestamp !== undefined) {
    const protectedStill = claim.metadata.finalizers?.includes(claimProtection) === true;
    return protectedStill && !isUsed(claim, world.pods) ? { kind: "let-go" } : { kind: "nothing" };
  }
  if (claim.status?.phase === "Bound") return { kind: "nothing" };
  const reserved = world.volumes.find((volume) => isFor(volume, claim));
  if (reserved !== undefined) return { kind: "bind", volume: reserved };
  const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
  const waits = waitsForConsumer(world.classes.find(({ metadata }) => metadata.name === claim.spec?.storageClassName));
  if (waits && selected === undefined && (claim.spec?.volumeName ?? "") === "") {
    const message = "waiting for first consumer to be created before binding";
    return { kind: "refuse", reason: "WaitForFirstConsumer", message };
  }
  const existing = findVolume(
    world.volumes,
    claim,
    world.nodes.find(({ metadata }) => metadata.name === selected),
  );
  if (existing !== undefined) return { kind: "bind", volume: existing };
  const className = claim.spec?.storageClassName;
  if (className === "") return waiting("no persistent volumes available for this claim and no storage class is set");
  if (className === undefined) {
    const standard = world.classes.find(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === "true");
    if (standard === undefined) return waiting("no storage class is set and none is the default");
    return { kind: "choose-class", className: standard.metadata.name ?? "" };
  }
  const storageClass = world.classes.find(({ metadata }) => metadata.name === className);
  if (storageClass === undefined) {
    return {
      kind: "refuse",
      reason: "ProvisioningFailed",
      message: `storageclass.storage.k8s.io "${className}" not found`,
    };
  }
  if (storageClass.provisioner !== provisionerName) {
    return {
      kind: "refuse",
      reason: "ExternalProvisioning",
      message: `waiting for a volume to be created by ${storageClass.provisioner}`,
    };
  }
  return { kind: "provision", volume: newVolume(claim, storageClass, world.directory) };
}

function waiting(message: string): ClaimPlan {
  return { kind: "refuse", reason: "FailedBinding", message };
}

function isUsed(claim: PersistentVolumeClaim, pods: readonly Pod[]): boolean {
  return pods.some(
    (pod) =>
      pod.metadata.namespace === claim.metadata.namespace &&
      !isFinished(pod) &&
      (pod.spec.volumes ?? []).some(({ persistentVolumeClaim: used }) => used?.claimName === claim.metadata.name),
  );
}

/** Reserved for this claim, by UID once it is known. */
function isFor({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const reference = spec?.claimRef;
  if (reference?.name !== claim.metadata.name || reference?.namespace !== claim.metadata.namespace) return false;
  return reference?.uid === undefined || reference.uid === claim.metadata.uid;
}

function newVolume(claim: PersistentVolumeClaim, storageClass: StorageClass, directory: string): PersistentVolume {
  const name = `pvc-${claim.metadata.uid}`;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { [provisionedBy]: provisionerName } },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.["storage"] ?? "0" },
      accessModes: claim.spec?.accessModes ?? ["ReadWriteOnce"],
      volumeMode: claim.spec?.volumeMode ?? "Filesystem",
      storageClassName: storageClass.metadata.name ?? "",
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      ...(claim.spec?.volumeMode === "Block"
        ? { local: { path: `${directory}/${name}/${diskFile}` } }
        : { hostPath: { path: `${directory}/${name}`, type: "Directory" } }),
      claimRef: claimReference(claim),
    },
  };
}

export function claimReference(
  claim: PersistentVolumeClaim,
): NonNullable<NonNullable<PersistentVolume["spec"]>["claimRef"]> {
  const { name = "", namespace = "", uid = "" } = claim.metadata;
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid };
}

export type VolumePlan =
  | { readonly kind: "nothing" }
  | { readonly kind: "mark"; readonly phase: "Available" | "Bound" | "Released" }
  /** Its claim is gone and it is ours: the directory and the object go. */
  | { readonly kind: "delete"; readonly directory?: string };

/** What to do next for a volume, given the claim that it is reserved for. Pure. */
export function planVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
  directory: string,
): VolumePlan {
  const reference = volume.spec?.claimRef;
  const phase = volume.status?.phase;
  const mark = (wanted: "Available" | "Bound" | "Released"): VolumePlan =>
    phase === wanted ? { kind: "nothing" } : { kind: "mark", phase: wanted };
  if (reference === undefined) return mark("Available");
  if (claim !== undefined && (reference.uid === undefined || claim.metadata.uid === reference.uid)) {
    return claim.spec?.volumeName === volume.metadata.name ? mark("Bound") : { kind: "nothing" };
  }
  if (
    volume.spec?.persistentVolumeReclaimPolicy !== "Delete" ||
    volume.metadata.annotations?.[provisionedBy] !== provisionerName
  ) {
    return mark("Released");
  }
  const own = `${directory}/${volume.metadata.name}`;
  const { hostPath, local } = volume.spec;
  // Only a directory of our own making, whatever the object says now.
  const made = hostPath?.path === own || local?.path === `${own}/${diskFile}`;
  return made ? { kind: "delete", directory: own } : { kind: "delete" };
}
