import * as fs from "node:fs";
import * as path from "node:path";
import type { Clock } from "@polyvirt/core";
import { endMembers, groupPlaces, isGroupOfOurs, removeGroup } from "./cgroup.ts";

/** All control groups of one owner, such as the pods of a node. */
export interface GroupTree {
  /** Containers put it before the names of their own groups. */
  readonly name: string;
  /** Names of the groups directly below the owner's. */
  list(): string[];
  /**
   * Ends whatever runs in one of these groups, or in all of them, and removes it with everything below. False when the
   * kernel still held some of it after a while.
   */
  remove(child?: string): Promise<boolean>;
}

const tries = 100;
const retryMs = 50;

/**
 * Groups lie below the one that the program is in which makes them. Another program of the same owner may have been
 * started elsewhere, so the places of all of them are kept in a file.
 */
export function openGroupTree(recordFile: string, name: string, clock: Clock): GroupTree {
  const recorded = readPlaces(recordFile);
  const places = [...new Set([...recorded, ...groupPlaces(name)])];
  if (places.length > recorded.length) fs.writeFileSync(recordFile, places.join("\n"), { mode: 0o600 });
  return {
    name,
    list: () => [...new Set(places.flatMap(groupsIn))],
    async remove(child) {
      const roots = places.map((place) => (child === undefined ? place : path.join(place, child)));
      for (let left = tries; ; left -= 1) {
        if (roots.map(removeAll).every(Boolean)) return true;
        if (left === 0) return false;
        await clock.sleep(retryMs);
      }
    },
  };
}

/**
 * The innermost groups first. True when nothing is left.
 * SAFETY: only directories that the kernel shows below a group of our own, and groups cannot be links.
 */
function removeAll(group: string): boolean {
  for (const name of groupsIn(group)) removeAll(path.join(group, name));
  endMembers(group);
  return removeGroup(group);
}

function groupsIn(group: string): string[] {
  try {
    return fs
      .readdirSync(group, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    // Never made, or gone already.
    return [];
  }
}

function readPlaces(recordFile: string): string[] {
  try {
    return fs.readFileSync(recordFile, "utf8").split("\n").filter(isGroupOfOurs);
  } catch {
    // The first program of this owner.
    return [];
  }
}
