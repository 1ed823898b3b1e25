import type { Pod } from "@polyvirt/api/k8s";
import { amountsOf, parseAmount } from "../scheduler/resource-amount.ts";

/** Bytes that the parts of a pod take on the node's disk. */
export interface StorageUsage {
  readonly volumes: ReadonlyMap<string, number>;
  /** What a container wrote to its own files, and its logs. */
  readonly containers: ReadonlyMap<string, number>;
}

const resource = "ephemeral-storage";

/** Directories of the pod whose size is limited; those in memory are limited by the kernel. */
function limitedVolumes(pod: Pick<Pod, "spec">): { name: string; limit: string }[] {
  return (pod.spec.volumes ?? []).flatMap(({ name, emptyDir }) =>
    emptyDir?.sizeLimit === undefined || emptyDir.medium === "Memory" ? [] : [{ name, limit: emptyDir.sizeLimit }],
  );
}

/** All empty directories on disk: they count against the limits of the pod's containers. */
export function diskVolumes(pod: Pick<Pod, "spec">): string[] {
  return (pod.spec.volumes ?? [])
    .filter(({ emptyDir }) => emptyDir !== undefined && emptyDir.medium !== "Memory")
    .map(({ name }) => name);
}

export function hasStorageLimits(pod: Pick<Pod, "spec">): boolean {
  return (
    limitedVolumes(pod).length > 0 ||
    pod.spec.containers.some(({ resources }) => resources?.limits?.[resource] !== undefined)
  );
}

/** Why the pod has to be evicted, in the kubelet's words; undefined while it keeps its limits. Pure. */
export function exceededLimit(pod: Pick<Pod, "spec">, usage: StorageUsage): string | undefined {
  for (const { name, limit } of limitedVolumes(pod)) {
    if ((usage.volumes.get(name) ?? 0) > parseAmount(limit)) {
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
    }
  }
  const limits = pod.spec.containers.map((container) => ({
    name: container.name,
    text: container.resources?.limits?.[resource],
    bytes: amountsOf(container.resources?.limits).get(resource),
  }));
  for (const { name, text, bytes } of limits) {
    if (bytes !== undefined && (usage.containers.get(name) ?? 0) > bytes) {
      return `Container ${name} exceeded its local ephemeral storage limit "${text}". `;
    }
  }
  if (limits.some(({ bytes }) => bytes === undefined)) return undefined;
  const total = limits.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  const used = [...usage.volumes.values(), ...usage.containers.values()].reduce((sum, bytes) => sum + bytes, 0);
  return used > total
    ? `Pod ephemeral local storage usage exceeds the total limit of containers ${total}. `
    : undefined;
}
