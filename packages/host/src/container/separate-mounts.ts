import { unescapeMountInfo } from "../mounts.ts";

/** Mounted anew in every container, so what the machine has there does not matter. */
const containerOwned = ["/proc", "/sys", "/dev", "/run"];

/**
 * A container's root is an overlay of the machine's `/`, and an overlay does not show what is mounted below its lower
 * directory. This finds the mounts that have to be put in place again: those that hold one of the given paths.
 */
export function separateMounts(mountInfo: string, paths: readonly string[]): string[] {
  const mountPoints = mountInfo
    .split("\n")
    .map((line) => line.split(" ")[4])
    .filter((field) => field !== undefined)
    .map(unescapeMountInfo)
    .filter((mountPoint) => mountPoint !== "/" && !containerOwned.some((owned) => isWithin(mountPoint, owned)));
  const needed = mountPoints.filter((mountPoint) => paths.some((path) => isWithin(path, mountPoint)));
  return [...new Set(needed)].sort((a, b) => a.length - b.length);
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}
