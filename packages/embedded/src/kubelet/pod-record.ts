import * as fs from "node:fs";
import * as path from "node:path";
import type { Pod } from "@polyvirt/api/k8s";
import { createLogPump, type ContainerProcess, type LogPump, type ProcessIdentity } from "@polyvirt/host";
import { adoptContainer } from "@polyvirt/host";
import type { Clock } from "@polyvirt/core";
import type { NodePaths } from "./node-paths.ts";
import type { PreparedVolume } from "./volumes/prepared-volume.ts";

/** What a kubelet remembers about one container of a pod. */
export interface ContainerRecord {
  /** Number of the latest run; -1 before the first. */
  attempt: number;
  process?: ContainerProcess;
  pump?: LogPump;
  /** When the latest run was begun, on the clock that never goes back. */
  launchedAt?: number;
  waiting?: { reason: string; message: string; until: number };
  /** Failed tries in a row to get the image or set the container up. */
  failures: number;
  backOff?: { until: number; delayMs: number };
  stopping?: { deadline: number; killed: boolean };
  /** The run whose end was already taken into account. */
  endedAttempt?: number;
}

/** A pod on this node. What must survive the kubelet is in files: `pod.json`, and the containers' own directories. */
export interface PodRecord {
  readonly uid: string;
  pod: Pod;
  /** Gone from the API server, or never there: end it and remove what it used. */
  orphaned: boolean;
  ip: string;
  /** Path of the pod's own network namespace; missing when it shares the machine's network. */
  networkNamespace?: string;
  startTime: number;
  prepared: boolean;
  prepareAgainAt?: number;
  prepareFailures: number;
  volumes: ReadonlyMap<string, PreparedVolume>;
  refreshAt: number;
  /** Holds the process namespace that all containers share, in pods that want one. */
  sandbox?: ProcessIdentity;
  /** When its disk usage is measured again. */
  measureAt: number;
  ended?: { reason: string; message: string };
  /** The node is shutting down: containers are stopped and started again by the next kubelet. */
  halting?: true;
  readonly containers: Map<string, ContainerRecord>;
  lastStatus?: string;
}

interface SavedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
  readonly startTime: number;
}

export function savePod(paths: NodePaths, record: PodRecord): void {
  const directory = paths.podRuntime(record.uid);
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { namespace = "", name = "" } = record.pod.metadata;
  const saved: SavedPod = { uid: record.uid, namespace, name, ip: record.ip, startTime: record.startTime };
  fs.writeFileSync(path.join(directory, "pod.json.new"), JSON.stringify(saved), { mode: 0o600 });
  fs.renameSync(path.join(directory, "pod.json.new"), path.join(directory, "pod.json"));
}

/** Pods that an earlier kubelet of this node has left, found by their UID. */
export function loadSavedPods(paths: NodePaths): SavedPod[] {
  return listDirectory(paths.runtime).flatMap((uid) => {
    try {
      // Written by savePod.
      return [JSON.parse(fs.readFileSync(path.join(paths.podRuntime(uid), "pod.json"), "utf8")) as SavedPod];
    } catch {
      // The kubelet was killed before anything of this pod was started; what is there is still removed by its UID.
      return [{ uid, namespace: "", name: "", ip: "", startTime: 0 }];
    }
  });
}

/** Takes over the latest run of each container that has a directory. */
export function adoptContainers(paths: NodePaths, record: PodRecord, clock: Clock, wake: () => void): void {
  for (const { name, attempt, process } of latestContainers(paths, record.uid, clock)) {
    process.onChange(wake);
    const { directory } = process;
    const pump = createLogPump({ directory, logFile: paths.log(record.uid, name, attempt), clock });
    record.containers.set(name, { attempt, process, pump, failures: 0 });
  }
}

/** The latest run of each container of a pod, as an earlier kubelet has left it. */
export function latestContainers(
  paths: NodePaths,
  uid: string,
  clock: Clock,
): { name: string; attempt: number; process: ContainerProcess }[] {
  const containers = path.join(paths.podRuntime(uid), "containers");
  return listDirectory(containers).flatMap((name) => {
    const attempts = listDirectory(path.join(containers, name)).map(Number).filter(Number.isInteger);
    const attempt = Math.max(-1, ...attempts);
    if (attempt < 0) return [];
    return [{ name, attempt, process: adoptContainer(paths.container(uid, name, attempt), clock) }];
  });
}

export function containerRecord(record: PodRecord, name: string): ContainerRecord {
  let found = record.containers.get(name);
  if (found === undefined) {
    found = { attempt: -1, failures: 0 };
    record.containers.set(name, found);
  }
  return found;
}

function listDirectory(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch {
    // Nothing was ever put there.
    return [];
  }
}
