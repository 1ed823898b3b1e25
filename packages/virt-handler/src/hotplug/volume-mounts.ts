import * as fs from "node:fs";
import { attachmentPod, hotplugDiskName, hotplugDisks, type VolumeStatus } from "@polyvirt/api";
import { describeError, hasCode } from "@polyvirt/core";
import {
  giveFile,
  graftFile,
  identifyProcess,
  listProcesses,
  makeSparseFile,
  openBeneath,
  openProcessRoot,
  processMountPoints,
  ungraftFile,
  type OpenedPath,
  type ProcessIdentity,
} from "@polyvirt/host";
import { claimDiskBytes } from "@polyvirt/hypervisor";
import { errors } from "../errors.ts";
import type { LauncherDirectory } from "../launcher/launcher-directory.ts";
import type { LauncherProcess } from "../network/guest-network.ts";

/** A launcher's folder of hotplugged disks. Which it has, the kernel knows: nothing has to be remembered over a restart. */
export interface VolumeMounts {
  mounted(launcher: HotplugLauncher): Set<string>;
  /** Shows the disk of a volume, which its attachment pod has, to the launcher. */
  mount(launcher: HotplugLauncher, volume: VolumeStatus): void;
  unmount(launcher: HotplugLauncher, volume: string): void;
}

export interface HotplugLauncher {
  readonly podUid: string;
  readonly process: LauncherProcess;
}

const IMAGE = "disk.img";
const IMAGE_SUFFIX = /\.img$/;

export function createVolumeMounts(directory: LauncherDirectory): VolumeMounts {
  return {
    mounted({ podUid, process }) {
      using folder = openFolder(directory, podUid, process.identity);
      const names = entriesMounted(folder, process.identity);
      return new Set(names.map((name) => name.replace(IMAGE_SUFFIX, "")));
    },
    mount({ podUid, process }, volume) {
      const attachmentUid = volume.hotplugVolume?.attachPodUID ?? "";
      doing(`give volume ${volume.name} to the launcher`, () => {
        using folder = openFolder(directory, podUid, process.identity);
        const holder = findHolder(directory, attachmentUid);
        using file = openDisk(holder, volume, process);
        const name = hotplugDiskName(volume.name, volume.persistentVolumeClaimInfo?.volumeMode);
        makeSparseFile(folder.path, name, 0, process);
        using place = openBeneath(folder.path, name, { expect: "file" });
        graftFile({ process: holder, file }, { process: process.identity, file: place });
      });
    },
    unmount({ podUid, process }, volume) {
      doing(`take volume ${volume} from the launcher`, () => {
        using folder = openFolder(directory, podUid, process.identity);
        const names = entriesMounted(folder, process.identity);
        for (const name of names.filter((entry) => entry.replace(IMAGE_SUFFIX, "") === volume)) {
          ungraftFile(process.identity, folder.path, name);
          fs.rmSync(folder.path.child(name), { force: true });
        }
      });
    },
  };
}

interface Folder extends Disposable {
  readonly path: OpenedPath;
  /** Where the launcher sees it. */
  readonly mountPoint: string;
}

/**
 * The folder as the launcher sees it. SAFETY: where it is, the kernel tells, so no symlink of the launcher's leads
 * elsewhere; and it must be the very folder that the kubelet made for this pod.
 */
function openFolder(directory: LauncherDirectory, podUid: string, identity: ProcessIdentity): Folder {
  const suffix = hotplugDisks.mountPath.slice("/var/run".length);
  const found = findOwnFolder(directory, podUid, identity, (mountPoint) => mountPoint.endsWith(suffix));
  if (found !== undefined) return found;
  throw errors.HandlerHotplugFailed(
    `find the folder for hotplugged disks in launcher pod ${podUid}: it has none; restart the VMI to get a pod that has`,
  );
}

/**
 * The process of an attachment pod. SAFETY: many processes may claim to have that folder mounted; only one that sees the
 * folder which the kubelet made for this pod is in it.
 */
function findHolder(directory: LauncherDirectory, podUid: string): ProcessIdentity {
  const { mountPath } = attachmentPod.marker;
  for (const { pid } of listProcesses()) {
    const identity = identifyProcess(pid);
    if (identity === undefined) continue;
    const found = findOwnFolder(directory, podUid, identity, (mountPoint) => mountPoint === mountPath);
    found?.[Symbol.dispose]();
    if (found !== undefined) return identity;
  }
  throw errors.HandlerHotplugFailed(`find the process of attachment pod ${podUid}: it does not run on this node`);
}

function findOwnFolder(
  directory: LauncherDirectory,
  podUid: string,
  identity: ProcessIdentity,
  matches: (mountPoint: string) => boolean,
): Folder | undefined {
  const candidates = processMountPoints(identity).filter(matches);
  if (candidates.length === 0) return undefined;
  using own = directory.open(podUid, hotplugDisks.volume, ".", "directory");
  for (const mountPoint of candidates) {
    const path = openSeen(identity, mountPoint);
    if (path === undefined) continue;
    if (inodeOf(path) === inodeOf(own)) return { path, mountPoint, [Symbol.dispose]: () => path.close() };
    path.close();
  }
  return undefined;
}

/** Undefined when the process has ended, or has something else there. */
function openSeen(identity: ProcessIdentity, mountPoint: string): OpenedPath | undefined {
  try {
    using root = openProcessRoot(identity);
    return openBeneath(root, mountPoint.slice(1), { expect: "directory" });
  } catch {
    return undefined;
  }
}

function entriesMounted({ mountPoint }: Folder, identity: ProcessIdentity): string[] {
  return processMountPoints(identity)
    .filter((place) => place.startsWith(`${mountPoint}/`))
    .map((place) => place.slice(mountPoint.length + 1));
}

/** The volume's device, or the image in its file system, which a new claim gets here. */
function openDisk(holder: ProcessIdentity, volume: VolumeStatus, owner: LauncherProcess): OpenedPath {
  const { name, persistentVolumeClaimInfo: info } = volume;
  using root = openProcessRoot(holder);
  if (info?.volumeMode === "Block") return openBeneath(root, attachmentPod.device(name).slice(1), { expect: "device" });
  using folder = openBeneath(root, attachmentPod.directory(name).slice(1), { expect: "directory" });
  const bytes = claimDiskBytes(info);
  if (bytes > 0) makeSparseFile(folder, IMAGE, bytes, owner);
  const file = openBeneath(folder, IMAGE, { expect: "file" });
  giveFile(file, owner);
  return file;
}

function inodeOf({ fd }: OpenedPath): string {
  const { dev, ino } = fs.fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}

function doing(operation: string, act: () => void): void {
  try {
    act();
  } catch (cause) {
    if (hasCode(cause, "HandlerHotplugFailed")) throw cause;
    throw errors.HandlerHotplugFailed(`${operation}: ${describeError(cause)}`, { cause });
  }
}
