import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { VirtualMachineInstance } from "@polyvirt/api";
import type { LauncherPaths } from "../launcher-paths.ts";

const pollMs = 20;
/** The daemons were started before the launcher; one that is not there by then does not come. */
const patienceMs = 10_000;

type Places = Pick<LauncherPaths, "public">;

/** Waits until every folder that the guest shares has a virtiofs daemon, each of which runs in a container of its own. */
export async function awaitSharedFolders(
  vmi: VirtualMachineInstance,
  paths: Places,
  limitMs: number = patienceMs,
): Promise<void> {
  const count = (vmi.spec.domain.devices.filesystems ?? []).length;
  const isReady = (): boolean => Object.keys(sharedFolderSockets(vmi, paths)).length === count;
  for (let waited = 0; !isReady() && waited < limitMs; waited += pollMs) await sleep(pollMs);
}

/** Sockets of the daemons that listen, by the names of the folders; the converter refuses a folder without one. */
export function sharedFolderSockets(
  { spec }: VirtualMachineInstance,
  { public: folder }: Places,
): Record<string, string> {
  const sockets = (spec.domain.devices.filesystems ?? []).map(({ name }) => {
    return [name, `${folder}/virtiofs-containers/${name}.sock`] as const;
  });
  return Object.fromEntries(sockets.filter(([, path]) => existsSync(path)));
}

/** Whether the guest sees a volume as a folder and not as a disk: nothing is to be made of it. */
export function isOnlyShared({ spec }: VirtualMachineInstance, volume: string): boolean {
  const { disks = [], filesystems = [] } = spec.domain.devices;
  return filesystems.some(({ name }) => name === volume) && !disks.some(({ name }) => name === volume);
}
