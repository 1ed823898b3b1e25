import * as fs from "node:fs";
import { openBeneath, openTrustedDirectory, type OpenedPath } from "@polyvirt/host";
import type { NodePaths } from "./node-paths.ts";
import type { PodRecord } from "./pod-record.ts";
import { diskVolumes, type StorageUsage } from "./storage-limits.ts";

const blockBytes = 512;

/** Measures what a pod takes on the node's disk. */
export async function storageUsage(record: PodRecord, paths: NodePaths): Promise<StorageUsage> {
  const volumes = new Map<string, number>();
  for (const name of diskVolumes(record.pod)) {
    volumes.set(name, await directoryBytes(paths.volume(record.uid, "empty-dir", name)));
  }
  const containers = new Map<string, number>();
  for (const { name } of record.pod.spec.containers) {
    containers.set(name, layerBytes(record, name) + (await directoryBytes(`${paths.podLogs(record.uid)}/${name}`)));
  }
  return { volumes, containers };
}

/** A container's own files are in a file system of their own, which knows how full it is. */
function layerBytes(record: PodRecord, container: string): number {
  const state = record.containers.get(container)?.process?.state();
  if (state?.phase !== "running") return 0;
  try {
    const { blocks, bfree, bsize } = fs.statfsSync(`/proc/${state.init.pid}/root/`);
    return (blocks - bfree) * bsize;
  } catch {
    // It ended in between.
    return 0;
  }
}

/**
 * Everything below a directory that a pod can write to.
 * SAFETY: no symlink is followed, in no component, also not one that the pod exchanges for a directory while we look.
 */
async function directoryBytes(directory: string): Promise<number> {
  if (!fs.existsSync(directory)) return 0;
  const root = openTrustedDirectory(directory);
  try {
    return await bytesBelow(root);
  } finally {
    root.close();
  }
}

async function bytesBelow(directory: OpenedPath): Promise<number> {
  let sum = 0;
  for (const entry of await fs.promises.readdir(directory.path, { withFileTypes: true })) {
    const stat = await fs.promises.lstat(directory.child(entry.name)).catch(() => undefined);
    if (stat === undefined) continue;
    sum += stat.blocks * blockBytes;
    if (!stat.isDirectory()) continue;
    const inner = openDirectory(directory, entry.name);
    if (inner === undefined) continue;
    try {
      sum += await bytesBelow(inner);
    } finally {
      inner.close();
    }
  }
  return sum;
}

function openDirectory(parent: OpenedPath, name: string): OpenedPath | undefined {
  try {
    return openBeneath(parent, name, { expect: "directory" });
  } catch {
    // Removed, or exchanged for something else, in between.
    return undefined;
  }
}
