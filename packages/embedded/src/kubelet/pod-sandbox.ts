import * as fs from "node:fs";
import * as path from "node:path";
import type { Clock } from "@polyvirt/core";
import { adoptContainer, isAlive, startContainer, type ContainerProcess, type ProcessIdentity } from "@polyvirt/host";
import { errors } from "../errors.ts";
import type { NodeContext } from "./node-context.ts";
import type { NodePaths } from "./node-paths.ts";
import type { PodRecord } from "./pod-record.ts";

/** As the first process of its namespace it is the parent of orphans, and waits for them. */
const waitForEver = "trap : TERM INT; while :; do sleep 86400 & wait $!; done";

/** The process that holds the process namespace which all containers of a pod share; started when there is none. */
export async function ensureSandbox(record: PodRecord, context: NodeContext): Promise<ProcessIdentity> {
  if (record.sandbox !== undefined && isAlive(record.sandbox)) return record.sandbox;
  if (process.getuid?.() !== 0) {
    throw errors.KubeletPodRefused(
      "the pod uses spec.shareProcessNamespace, which needs a kubelet that is root; remove the field",
    );
  }
  const { paths, clock, groups } = context;
  const found = latestSandbox(record.uid, paths, clock);
  const adopted = found === undefined ? undefined : found.process.state();
  if (adopted?.phase === "running") return adopted.init;
  const attempt = (found?.attempt ?? -1) + 1;
  const started = startContainer(
    path.join(sandboxes(record.uid, paths), String(attempt)),
    {
      command: ["/bin/sh", "-c", waitForEver],
      environment: new Map(),
      workingDirectory: "/",
      mounts: [],
      devices: [],
      maskedDirectories: context.maskedDirectories,
      visiblePaths: [],
      privileged: false,
      hostPid: false,
      input: false,
      terminal: false,
      readOnlyRoot: true,
      credentials: { uid: 0, gid: 0, groups: [], capabilities: ["kill"], noNewPrivileges: true },
      groupName: `${groups.name}/${record.uid}/sandbox-${attempt}`,
      limits: {},
    },
    clock,
  );
  await new Promise<void>((resolve) => started.onChange(resolve));
  const state = started.state();
  if (state.phase === "running") return state.init;
  const why = state.phase === "exited" ? state.setupError : undefined;
  throw errors.KubeletVolumeRefused(`make a process namespace for the pod: ${why ?? "its first process has ended"}`);
}

/** Ends it, with everything that is left in its namespace. */
export function closeSandbox(uid: string, paths: NodePaths, clock: Clock): void {
  latestSandbox(uid, paths, clock)?.process.kill();
}

function latestSandbox(
  uid: string,
  paths: NodePaths,
  clock: Clock,
): { attempt: number; process: ContainerProcess } | undefined {
  const directory = sandboxes(uid, paths);
  const attempts = fs.existsSync(directory) ? fs.readdirSync(directory).map(Number).filter(Number.isInteger) : [];
  if (attempts.length === 0) return undefined;
  const attempt = Math.max(...attempts);
  const adopted = adoptContainer(path.join(directory, String(attempt)), clock);
  adopted.detach();
  return { attempt, process: adopted };
}

function sandboxes(uid: string, paths: NodePaths): string {
  return path.join(paths.podRuntime(uid), "sandbox");
}
