import * as fs from "node:fs";
import * as path from "node:path";
import type { Clock } from "@polyvirt/core";
import { unmountBelow, type ContainerProcess } from "@polyvirt/host";
import { storeDirectory } from "../apiserver/create-api-server.ts";
import { lockDirectory } from "../store/directory-lock.ts";
import { nodePaths } from "./node-paths.ts";
import { openPodGroups } from "./pod-groups.ts";
import { latestContainers, loadSavedPods } from "./pod-record.ts";
import { releasePod } from "./release-pod.ts";

interface HaltOptions {
  readonly clock: Clock;
  /** How long containers get to end by themselves. */
  readonly graceMs: number;
  /** Nobody is to be waited for any more. */
  readonly hurry?: AbortSignal;
}

const pollMs = 50;
const killedMs = 10_000;

/**
 * Stops what a cluster without a process has left running. `nodes` is the folder with one folder for each node, by name.
 * Refused while a server has the store: that one looks after its pods itself. Returns how many containers were stopped.
 */
export async function haltNodes(dataDir: string, nodes: string, options: HaltOptions): Promise<number> {
  if (!fs.existsSync(nodes)) return 0;
  const lock = await lockDirectory(storeDirectory(dataDir));
  try {
    const halted = fs.readdirSync(nodes).map((name) => haltNode(name, path.join(nodes, name), options));
    return (await Promise.all(halted)).reduce((sum, count) => sum + count, 0);
  } finally {
    await lock.release();
  }
}

/**
 * Stops the pods of a node whose kubelet is not there to do it, because it was killed, and gives back what they hold of the
 * machine. Their folders stay: the next kubelet finds in them what it would have left itself. Returns how many containers
 * were still running.
 */
export async function haltNode(
  name: string,
  directory: string,
  { clock, graceMs, hurry }: HaltOptions,
): Promise<number> {
  if (!fs.existsSync(directory)) return 0;
  const paths = nodePaths(directory);
  const groups = openPodGroups(paths, name, clock);
  const uids = new Set([...loadSavedPods(paths).map(({ uid }) => uid), ...groups.list()]);
  const containers = [...uids].flatMap((uid) => latestContainers(paths, uid, clock).map(({ process }) => process));
  const running = containers.filter(isRunning);
  for (const container of running) {
    container.markInterrupted();
    container.signal("SIGTERM");
  }
  const deadline = clock.monotonic() + graceMs;
  const inTime = (): boolean => clock.monotonic() < deadline && hurry?.aborted !== true;
  while (running.some(isRunning) && inTime()) await clock.sleep(pollMs);
  const killedBy = clock.monotonic() + killedMs;
  while (running.some(isRunning) && clock.monotonic() < killedBy) {
    for (const container of running.filter(isRunning)) container.kill();
    await clock.sleep(pollMs);
  }
  for (const container of containers) container.detach();
  for (const uid of uids) await releasePod(uid, { paths, groups, clock });
  await groups.remove();
  unmountBelow(directory);
  return running.length;
}

function isRunning(container: ContainerProcess): boolean {
  return container.state().phase !== "exited";
}
