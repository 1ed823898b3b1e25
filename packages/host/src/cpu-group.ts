import * as fs from "node:fs";
import { join } from "node:path";
import { errors } from "./errors.ts";
import { pinThread } from "./threads.ts";

/** Where control groups are mounted, and what the kernel says about the groups of a process. */
export interface GroupPlace {
  /** The machine's `/sys/fs/cgroup`. */
  readonly root: string;
  /** Content of `/proc/PID/cgroup`. */
  readonly membership: string;
}

interface CpuGroup {
  readonly directory: string;
  readonly version: 1 | 2;
  /** The group of everything that is in no other: not the process's own. */
  readonly isTop: boolean;
}

/** The control group that decides on which CPUs a process runs. */
export function findCpuGroup({ root, membership }: GroupPlace): CpuGroup | undefined {
  const lines = membership.split("\n").map((line) => line.split(":"));
  const versionOne = lines.find(([, controllers]) => controllers?.split(",").includes("cpuset"));
  if (versionOne !== undefined) {
    const path = clean(versionOne.slice(2).join(":"));
    return { directory: join(root, "cpuset", path), version: 1, isTop: path === "/" };
  }
  const unified = lines.find(([id, controllers]) => id === "0" && controllers === "");
  if (unified === undefined) return undefined;
  const path = clean(unified.slice(2).join(":"));
  return { directory: join(root, path), version: 2, isTop: path === "/" };
}

/** Paths from the kernel have no `..` unless they lead out of our own namespace, where we have no business. */
function clean(path: string): string {
  if (path.split("/").includes("..")) {
    throw errors.HostUnsupported(`find control group ${path}: it lies outside of what is visible here`);
  }
  return path;
}

/**
 * Puts threads of a process into a group of their own below the process's, on the given CPUs: the rest of the process
 * keeps the others to itself. Where the process has no group of its own, nobody would remove one below it: the threads are
 * only kept on the CPUs.
 * SAFETY: the directory comes from the kernel's own account of the process, not from anything that the process can write.
 */
export function moveThreads(place: GroupPlace, name: string, cpus: string, threads: readonly number[]): void {
  const group = findCpuGroup(place);
  if (group === undefined) throw errors.HostUnsupported("move threads: this machine has no control groups for CPUs");
  if (group.isTop) {
    for (const tid of threads) pinThread(tid, cpus.split(",").map(Number));
    return;
  }
  const directory = join(group.directory, name);
  try {
    fs.mkdirSync(directory, { recursive: true });
    if (group.version === 2) {
      // Threads of one process may only be in different groups when these are declared for threads.
      write(directory, "cgroup.type", "threaded");
      write(group.directory, "cgroup.subtree_control", "+cpuset");
    } else {
      write(directory, "cpuset.mems", fs.readFileSync(join(group.directory, "cpuset.mems"), "utf8").trim());
    }
    write(directory, "cpuset.cpus", cpus);
    for (const tid of threads) addThread(join(directory, group.version === 2 ? "cgroup.threads" : "tasks"), tid);
  } catch (cause) {
    throw errors.HostCallFailed(`move threads to CPUs ${cpus} in ${directory}`, { cause });
  }
}

function write(directory: string, file: string, content: string): void {
  fs.writeFileSync(join(directory, file), content);
}

function addThread(file: string, tid: number): void {
  try {
    fs.appendFileSync(file, `${tid}\n`);
  } catch (error) {
    // Threads come and go; one that has ended needs no place.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
