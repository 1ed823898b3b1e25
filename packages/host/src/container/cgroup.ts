import * as fs from "node:fs";
import * as path from "node:path";
import type { Clock } from "@polyvirt/core";
import { identifyProcess, signalProcess } from "../process-identity.ts";
import {
  findHierarchies,
  groupsAbove,
  planGroups,
  unenforcedLimits,
  type Hierarchy,
  type ResourceLimits,
} from "./cgroup-plan.ts";

/** All our groups are below one of this name. */
const topGroup = "polyvirt";
const recordFile = "cgroups";
const memoryFile = "out-of-memory";
const killRounds = 50;
const retryMs = 50;
const removeTries = 40;

let known: Hierarchy[] | undefined;

/** The hierarchies in which this process can make groups; none without the rights for it. */
function usableHierarchies(): readonly Hierarchy[] {
  known ??= findHierarchies(readText("/proc/self/cgroup"), readText("/proc/self/mountinfo")).filter(({ directory }) =>
    canWrite(directory),
  );
  return known;
}

/** Which of cpu and memory this machine does not let us limit. */
export function unlimitableResources(): string[] {
  const hierarchies = usableHierarchies();
  const unified = hierarchies.find(({ controller }) => controller === "");
  const available =
    unified === undefined
      ? hierarchies.map(({ controller }) => controller)
      : readText(path.join(unified.directory, "cgroup.controllers")).trim().split(" ");
  return ["cpu", "memory"].filter((resource) => !available.includes(resource));
}

interface ContainerGroups {
  readonly directories: readonly string[];
  /** Resources whose limit this machine does not let us set: `cpu`, `memory`. */
  readonly unenforced: readonly string[];
}

/**
 * Makes the groups of a container and records them in its directory, so that a later program finds its processes.
 * SAFETY: the names come from the caller's own identifiers (node, pod UID, container), which cannot hold a slash.
 */
export function createGroups(directory: string, name: string, limits: ResourceLimits): ContainerGroups {
  const groups = planGroups(usableHierarchies(), `${topGroup}/${name}`, limits);
  fs.writeFileSync(path.join(directory, recordFile), groups.map((group) => group.directory).join("\n"), {
    mode: 0o600,
  });
  const written = new Set<string>();
  for (const group of groups) {
    fs.mkdirSync(group.directory, { recursive: true });
    if (group.base !== undefined) {
      for (const above of groupsAbove(group.base, group.directory))
        writeSetting(path.join(above, "cgroup.subtree_control"), "+cpu +memory +pids");
    }
    for (const [file, value] of group.settings) {
      if (writeSetting(path.join(group.directory, file), value)) written.add(file);
    }
  }
  return { directories: groups.map((group) => group.directory), unenforced: unenforcedLimits(limits, written) };
}

/** Ends everything that is in the container's groups; false when it has none. */
export function killGroups(directory: string): boolean {
  const [group] = recordedGroups(directory).filter((candidate) => fs.existsSync(candidate));
  if (group === undefined) return false;
  endMembers(group);
  return true;
}

/** Ends everything that is in a group, and what that starts meanwhile. */
export function endMembers(group: string): void {
  for (let round = 0; round < killRounds; round++) {
    const members = membersOf(group);
    if (members.length === 0) return;
    for (const pid of members) endProcess(pid);
  }
}

/** Where the groups of an owner are made by this program: one for each hierarchy. */
export function groupPlaces(name: string): string[] {
  return usableHierarchies().map(({ directory }) => `${directory}/${topGroup}/${name}`);
}

/** Whether this is a path of a group that we could have made. */
export function isGroupOfOurs(group: string): boolean {
  return path.isAbsolute(group) && path.normalize(group) === group && group.split("/").includes(topGroup);
}

/**
 * Ends what is left of a container and removes its groups; tries again until the kernel lets them go. They are given by
 * those who may come when the directory is gone already.
 */
export function removeGroups(directory: string, groups: readonly string[], clock: Clock): void {
  for (const group of groups) endMembers(group);
  // The groups know it only as long as they are there.
  if (ranOutOfMemory(directory)) writeSetting(path.join(directory, memoryFile), "");
  removeUntilGone(groups, clock, removeTries);
}

function removeUntilGone(groups: readonly string[], clock: Clock, tries: number): void {
  for (const group of groups) endMembers(group);
  const left = groups.filter((group) => !removeGroup(group));
  if (left.length > 0 && tries > 0) clock.setTimer(retryMs, () => removeUntilGone(left, clock, tries - 1));
}

/** Whether the kernel killed something in the container because it had reached its memory limit. */
export function ranOutOfMemory(directory: string): boolean {
  if (fs.existsSync(path.join(directory, memoryFile))) return true;
  return recordedGroups(directory).some((group) =>
    ["memory.oom_control", "memory.events"].some((file) => /^oom_kill [1-9]/m.test(readText(path.join(group, file)))),
  );
}

/** The groups that a container was given. */
export function recordedGroups(directory: string): string[] {
  return readText(path.join(directory, recordFile))
    .split("\n")
    .filter((line) => line !== "");
}

function membersOf(group: string): number[] {
  return readText(path.join(group, "cgroup.procs"))
    .split("\n")
    .filter((line) => line !== "" && line !== "0")
    .map(Number);
}

/** True when the group is gone. Those above it that are ours go too when it was the last one in them. */
export function removeGroup(group: string): boolean {
  try {
    fs.rmdirSync(group);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
  for (let parent = path.dirname(group); isGroupOfOurs(parent); parent = path.dirname(parent)) {
    try {
      fs.rmdirSync(parent);
    } catch {
      // Other containers are still in it.
      break;
    }
  }
  return true;
}

/** False where the controller is not available: usage is then bounded by the machine alone. */
function writeSetting(file: string, value: string): boolean {
  try {
    fs.writeFileSync(file, value);
    return true;
  } catch {
    // No such file in this kind of group, or another owner.
    return false;
  }
}

/** A process that the kernel does not let us signal is left to the next round. */
function endProcess(pid: number): void {
  const identity = identifyProcess(pid);
  try {
    if (identity !== undefined) signalProcess(identity, "SIGKILL");
  } catch {
    // Only possible for somebody else's process, and those are not in our groups for long.
  }
}

function canWrite(directory: string): boolean {
  try {
    fs.accessSync(directory, fs.constants.W_OK);
    return fs.existsSync(path.join(directory, "cgroup.procs"));
  } catch {
    // Another owner, or a read-only mount.
    return false;
  }
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    // Not there on this machine, or gone with its container.
    return "";
  }
}
