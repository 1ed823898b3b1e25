import * as fs from "node:fs";
import type { Clock } from "@polyvirt/core";
import { unmountBelow, type GroupTree } from "@polyvirt/host";
import type { NodePaths } from "./node-paths.ts";
import { closeSandbox } from "./pod-sandbox.ts";
import { releaseBlockVolumes } from "./volumes/block-volume.ts";

interface ReleaseDependencies {
  readonly paths: NodePaths;
  readonly groups: GroupTree;
  readonly clock: Clock;
}

/**
 * Gives back what a pod without running containers holds of the machine: processes, control groups, devices, memory. False
 * when the kernel did not let its control groups go.
 */
export async function releasePod(uid: string, { paths, groups, clock }: ReleaseDependencies): Promise<boolean> {
  closeSandbox(uid, paths, clock);
  const removed = await groups.remove(uid);
  await releaseBlockVolumes(uid, paths);
  if (fs.existsSync(paths.podVolumes(uid))) unmountBelow(paths.podVolumes(uid));
  return removed;
}
