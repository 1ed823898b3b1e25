import * as fs from "node:fs";
import * as path from "node:path";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";

const MS_NOSUID = 2;
const MS_NODEV = 4;
const MS_BIND = 4096;
const MS_REC = 16384;
const MS_SHARED = 1 << 20;
const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;

/** Whether something is mounted at exactly this directory. */
export function isMountPoint(directory: string): boolean {
  const own = fs.lstatSync(directory, { throwIfNoEntry: false });
  return own?.isDirectory() === true && own.dev !== fs.lstatSync(path.dirname(directory)).dev;
}

/**
 * Mounts a file system in memory, whose root everybody may write to, at an existing directory of the machine.
 * SAFETY: the directory is one that the caller has made below a folder of its own; nosuid and nodev, so that nothing in it
 * gives rights to whoever finds it.
 */
export function mountMemory(directory: string, sizeBytes: number): void {
  const options = `size=${Math.ceil(sizeBytes)},mode=0777`;
  const c = libc();
  if (c.mount("tmpfs", directory, "tmpfs", MS_NOSUID | MS_NODEV, options) !== 0) {
    throw errors.HostCallFailed(`mount a file system in memory at ${directory}: errno ${c.errno()}`);
  }
}

/**
 * Makes a directory a mount of its own that hands further mounts on to its copies, so that containers can be given such a
 * copy.
 * SAFETY: mounts the directory on itself; nothing becomes visible that was not there before.
 */
export function shareDirectory(directory: string): void {
  const real = fs.realpathSync(directory);
  if (isShared(real)) return;
  const c = libc();
  const bound = isListed(real) || c.mount(real, real, "", MS_BIND | MS_REC, "") === 0;
  if (!bound || c.mount("", real, "", MS_SHARED, "") !== 0) {
    throw errors.HostCallFailed(`let the mounts below ${real} be shared: errno ${c.errno()}`);
  }
}

/** Whether mounts below this directory are handed on to copies of it. */
export function isShared(directory: string): boolean {
  // The innermost mount that holds it is the last one that the kernel lists.
  const line = mountLines().findLast(({ place }) => `${directory}/`.startsWith(place === "/" ? "/" : `${place}/`));
  return line?.shared === true;
}

function isListed(directory: string): boolean {
  return mountLines().some(({ place }) => place === directory);
}

function mountLines(): { place: string; shared: boolean }[] {
  return fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({
      place: unescapeMountInfo(line.split(" ")[4] ?? ""),
      shared: / shared:\d+/.test(line.split(" - ")[0] ?? ""),
    }));
}

/**
 * Unmounts everything below a directory, the innermost first; what is still in use goes when its last user does.
 * SAFETY: only mount points that the kernel itself lists below the directory, and never through a symlink.
 */
export function unmountBelow(directory: string): void {
  const mountInfo = fs.readFileSync("/proc/self/mountinfo", "utf8");
  for (const mountPoint of mountPointsBelow(mountInfo, fs.realpathSync(directory))) {
    const c = libc();
    if (c.umount2(mountPoint, MNT_DETACH | UMOUNT_NOFOLLOW) !== 0) {
      throw errors.HostCallFailed(`unmount ${mountPoint}: errno ${c.errno()}`);
    }
  }
}

/** In the order of unmounting. */
export function mountPointsBelow(mountInfo: string, directory: string): string[] {
  return mountInfo
    .split("\n")
    .map((line) => unescapeMountInfo(line.split(" ")[4] ?? ""))
    .filter((mountPoint) => mountPoint.startsWith(`${directory}/`))
    .reverse();
}

/** mountinfo writes blank, tab, newline and backslash as three octal digits. */
export function unescapeMountInfo(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
