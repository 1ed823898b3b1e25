import { virtualMachineInstances, virtualMachines, type VirtualMachineInstance } from "@polyvirt/api";
import {
  apiVersionOf,
  persistentVolumeClaims,
  type OwnerReference,
  type PersistentVolumeClaim,
  type StorageClass,
} from "@polyvirt/api/k8s";
import { labelValue, nameSuffix } from "../launcher-pod/name.ts";

/** Which guest a claim keeps the state of. */
export const stateLabel = "persistent-state-for";

type StateKind = "swtpm" | "nvram";

/** What of the guest's state outlives its pod, by the folder of the claim that it is in. */
export function stateKinds({ spec: { domain } }: VirtualMachineInstance): StateKind[] {
  const { tpm } = domain.devices;
  return [
    ...(tpm?.persistent === true && tpm.enabled !== false ? (["swtpm"] as const) : []),
    ...(domain.firmware?.bootloader?.efi?.persistent === true ? (["nvram"] as const) : []),
  ];
}

/** The value of the label: names may be longer than labels. */
export function stateLabelOf({ metadata }: VirtualMachineInstance): string {
  return labelValue(metadata.name ?? "");
}

/** UEFI variables of arm64 are 64 MiB of flash, everywhere else half a MiB. */
function sizeOf(vmi: VirtualMachineInstance): string {
  return vmi.spec.architecture === "arm64" && stateKinds(vmi).includes("nvram") ? "80Mi" : "10Mi";
}

/**
 * The claim for a guest that has none. It belongs to the virtual machine, and outlives its instances; the state of an
 * instance by itself goes with the instance. The name follows from the owner, so that two controllers that overlap for a
 * moment cannot make two.
 */
export function renderStateClaim(
  vmi: VirtualMachineInstance,
  storageClass: string | undefined,
): PersistentVolumeClaim & { metadata: { name: string } } {
  const owner = ownerOf(vmi);
  const { namespace, name = "" } = vmi.metadata;
  return {
    apiVersion: apiVersionOf(persistentVolumeClaims),
    kind: persistentVolumeClaims.kind,
    metadata: {
      name: `${stateLabel}-${name}-${nameSuffix(owner.uid)}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [stateLabel]: stateLabelOf(vmi) },
      ownerReferences: [owner],
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      resources: { requests: { storage: sizeOf(vmi) } },
      ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
    },
  };
}

function ownerOf({ metadata }: VirtualMachineInstance): OwnerReference {
  const machine = metadata.ownerReferences?.find(
    ({ controller, kind }) => controller === true && kind === virtualMachines.kind,
  );
  return (
    machine ?? {
      apiVersion: apiVersionOf(virtualMachineInstances),
      kind: virtualMachineInstances.kind,
      name: metadata.name ?? "",
      uid: metadata.uid ?? "",
      controller: true,
      blockOwnerDeletion: true,
    }
  );
}

/**
 * Of the claims with the guest's label the one that it takes: its own, or one that nobody owns, which somebody made to keep
 * state for longer than one instance. What belongs to another (an earlier instance of the same name) goes with its owner.
 */
export function pickStateClaim(
  vmi: VirtualMachineInstance,
  claims: readonly PersistentVolumeClaim[],
): PersistentVolumeClaim | undefined {
  const own = ownerOf(vmi).uid;
  const owners = ({ metadata }: PersistentVolumeClaim) => metadata.ownerReferences ?? [];
  const usable = claims
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""));
  return (
    usable.find((claim) => owners(claim).some(({ uid }) => uid === own)) ??
    usable.find((claim) => owners(claim).length === 0)
  );
}

/** Provisioning takes a moment; only what takes longer is worth a word. */
const PATIENCE_MS = 5_000;

export type ClaimReadiness =
  | { readonly kind: "ready" }
  /** A pod that waits for it would wait too; `message` only when somebody should look at it. */
  | { readonly kind: "waiting"; readonly message?: string };

/** Whether a pod can use the claim: it has a volume, or will get one when it has a pod. */
export function stateClaimReadiness(
  { metadata, spec, status }: PersistentVolumeClaim,
  storageClass: StorageClass | "missing" | undefined,
  now: Date,
): ClaimReadiness {
  const phase = status?.phase ?? "Pending";
  if (phase === "Bound") return { kind: "ready" };
  const what = `persistent volume claim "${metadata.name}", which keeps the guest's state, is ${phase}`;
  if (spec?.storageClassName === undefined || spec.storageClassName === "") {
    const message = `${what}: it has no storage class; make one the default, or name one in the KubeVirt object's vmStateStorageClass`;
    return { kind: "waiting", message };
  }
  if (storageClass === "missing") {
    return { kind: "waiting", message: `${what}: storage class "${spec.storageClassName}" does not exist` };
  }
  if (storageClass?.volumeBindingMode === "WaitForFirstConsumer" && phase === "Pending") return { kind: "ready" };
  if (now.getTime() - new Date(metadata.creationTimestamp ?? now).getTime() < PATIENCE_MS) return { kind: "waiting" };
  return { kind: "waiting", message: `${what}; \`kubectl describe pvc ${metadata.name}\` says why` };
}
