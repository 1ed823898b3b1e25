import { basename, join } from "node:path";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** A tree of small files that the kernel makes: `/sys`, `/proc`. Tests give a folder that looks like one. */
export interface KernelTree {
  /** Without the newline at its end; undefined when it is not there or cannot be read. */
  read(path: string): string | undefined;
  /** Names in a folder, sorted; none when it is not there. */
  list(path: string): string[];
  /** The last part of what a link points to: drivers and groups are told that way. */
  linkName(path: string): string | undefined;
  exists(path: string): boolean;
}

export function openKernelTree(root: string): KernelTree {
  const attempt = <T>(look: () => T): T | undefined => {
    try {
      return look();
    } catch {
      // Devices come and go, and not every machine has every file: what cannot be read is not there.
      return undefined;
    }
  };
  return {
    read: (path) => attempt(() => readFileSync(join(root, path), "utf8").trimEnd()),
    list: (path) => attempt(() => readdirSync(join(root, path)).toSorted()) ?? [],
    linkName: (path) => attempt(() => basename(readlinkSync(join(root, path)))),
    exists: (path) => attempt(() => statSync(join(root, path))) !== undefined,
  };
}
