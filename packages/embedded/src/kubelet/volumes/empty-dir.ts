import * as fs from "node:fs";
import type { Pod, Volume } from "@polyvirt/api/k8s";
import { isMountPoint, mountMemory } from "@polyvirt/host";
import { errors } from "../../errors.ts";
import { amountsOf, parseAmount } from "../../scheduler/resource-amount.ts";

/** Writable for every user of the pod, as in Kubernetes: containers of one pod may run as different users. */
export function makeEmptyDir(directory: string, volume: Volume, pod: Pod, nodeMemory: number): void {
  const medium = volume.emptyDir?.medium ?? "";
  if (medium !== "" && medium !== "Memory") {
    const why = medium.startsWith("HugePages")
      ? "huge pages are not available as a volume"
      : `medium ${medium} is unknown`;
    throw errors.KubeletVolumeRefused(`volume ${volume.name}: ${why} on this node`);
  }
  const isNew = !fs.existsSync(directory);
  if (isNew) fs.mkdirSync(directory, { recursive: true });
  if (medium === "Memory" && !isMountPoint(directory)) {
    if (process.getuid?.() !== 0) {
      throw errors.KubeletVolumeRefused(
        `volume ${volume.name}: medium Memory needs a kubelet that is root; leave medium out to have it on disk`,
      );
    }
    mountMemory(directory, memoryVolumeBytes(volume, pod, nodeMemory));
  } else if (!isNew) return;
  const group = pod.spec.securityContext?.fsGroup;
  if (group !== undefined) fs.chownSync(directory, 0, group);
  fs.chmodSync(directory, group === undefined ? 0o777 : 0o2777);
}

/** The volume's own limit, the memory that its pod may use, or what the node has: whichever is least. */
export function memoryVolumeBytes(volume: Volume, pod: Pick<Pod, "spec">, nodeMemory: number): number {
  const own = volume.emptyDir?.sizeLimit;
  const limits = pod.spec.containers.map(({ resources }) => amountsOf(resources?.limits).get("memory"));
  const podLimit = limits.reduce<number>((sum, limit) => sum + (limit ?? Number.POSITIVE_INFINITY), 0);
  const least = Math.min(
    own === undefined ? Number.POSITIVE_INFINITY : parseAmount(own) || Number.POSITIVE_INFINITY,
    podLimit,
  );
  return Number.isFinite(least) ? Math.min(least, nodeMemory) : nodeMemory;
}
