import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from "@polyvirt/api/k8s";
import { matchesSelector } from "./label-match.ts";
import { matchesTerm } from "./node-fit.ts";
import { parseAmount } from "./resource-amount.ts";

/** On a claim whose class waits for its first consumer: the node that the scheduler has chosen for the consumer. */
export const selectedNodeAnnotation = "volume.kubernetes.io/selected-node";

export function waitsForConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === "WaitForFirstConsumer";
}

/** The smallest free volume that is as the claim wants it. */
export function findVolume(
  volumes: readonly PersistentVolume[],
  claim: PersistentVolumeClaim,
  node?: Node,
): PersistentVolume | undefined {
  const size = (volume: PersistentVolume): number => parseAmount(volume.spec?.capacity?.["storage"] ?? "0");
  return volumes
    .filter((volume) => fits(volume, claim) && (node === undefined || isReachable(volume, node)))
    .sort((a, b) => size(a) - size(b))[0];
}

/** Whether pods on the node can use the volume. */
export function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const required = spec?.nodeAffinity?.required;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

function fits({ metadata, spec, status }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const wanted = claim.spec;
  if (spec?.claimRef !== undefined || (status?.phase !== undefined && status.phase !== "Available")) return false;
  if ((spec?.storageClassName ?? "") !== (wanted?.storageClassName ?? "")) return false;
  if ((wanted?.volumeName ?? "") !== "" && wanted?.volumeName !== metadata.name) return false;
  if (wanted?.selector !== undefined && !matchesSelector(wanted.selector, metadata.labels)) return false;
  if ((spec?.volumeMode ?? "Filesystem") !== (wanted?.volumeMode ?? "Filesystem")) return false;
  if (!(wanted?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode) === true)) return false;
  return (
    parseAmount(spec?.capacity?.["storage"] ?? "0") >= parseAmount(wanted?.resources?.requests?.["storage"] ?? "0")
  );
}
