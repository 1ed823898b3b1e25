import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pods } from "@polyvirt/api/k8s";
import type { Clock } from "@polyvirt/core";
import { isAlive, signalProcess } from "@polyvirt/host";
import { haltNodes, removePodNetwork } from "@polyvirt/embedded";
import type { KubeClient } from "@polyvirt/kube";
import { findClusterProcess, readClusterState, type DataDir } from "./data-dir.ts";
import { errors } from "./errors.ts";
import { podNetworkOctet } from "./pod-network.ts";

interface ClusterProcessDependencies {
  readonly dataDir: DataDir;
  readonly bundleDir: string;
  readonly clock: Clock;
}

/** Starts the cluster process in the background: its own session, its output in the log, no tie to this terminal. */
export async function startCluster({ dataDir, bundleDir, clock }: ClusterProcessDependencies): Promise<void> {
  const log = openSync(dataDir.clusterLog, "a", 0o600);
  const child = spawn(process.execPath, [join(bundleDir, "cluster.js"), "--data-dir", dataDir.path], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  let exit: string | undefined;
  child.on("error", (error) => (exit = error.message));
  child.on("exit", (code, signal) => (exit = signal ?? `exit code ${code}`));
  const deadline = clock.monotonic() + 30_000;
  while ((await findClusterProcess(dataDir))?.pid !== child.pid) {
    if (exit !== undefined) throw await startFailure(dataDir, `the cluster process ended (${exit})`);
    if (clock.monotonic() > deadline) throw await startFailure(dataDir, "the cluster process does not get ready");
    await clock.sleep(25);
  }
  child.unref();
}

/** Waits until the API server says that it serves. */
export async function waitForApi(client: KubeClient, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + 30_000;
  for (;;) {
    try {
      await client.request("GET", "/readyz");
      return;
    } catch (error) {
      if (clock.monotonic() > deadline) {
        throw errors.CliClusterStartFailed("wait for the API server to be ready", { cause: error });
      }
    }
    await clock.sleep(50);
  }
}

interface StopOptions {
  /** How long pods get to end by themselves. */
  readonly limitMs: number;
  /** Pods are not to be waited for any more. */
  readonly hurry?: AbortSignal;
  /** Told what still runs. */
  readonly note?: (text: string) => void;
  /** What still runs, as far as the API server can tell. */
  readonly stillRunning?: () => Promise<readonly string[]>;
}

const killedMs = 15_000;
const lookEveryMs = 1_000;

interface Stopped {
  /** Whether there was a cluster process. */
  readonly found: boolean;
  /** How many containers were running without one, because it had been killed. */
  readonly abandoned: number;
}

/**
 * Asks the cluster process to stop: it ends every pod within its grace period, then itself. After the limit it is asked
 * again, and kills what is left. What a cluster process leaves that was killed is stopped here.
 */
export async function stopCluster(dataDir: DataDir, clock: Clock, options: StopOptions): Promise<Stopped> {
  const identity = await findClusterProcess(dataDir);
  if (identity === undefined)
    return { found: false, abandoned: await stopAbandoned(dataDir, clock, options.limitMs, options.hurry) };
  signalProcess(identity, "SIGTERM");
  let deadline = clock.monotonic() + options.limitMs;
  let lookAt = clock.monotonic() + lookEveryMs;
  let hurried = false;
  while (isAlive(identity)) {
    const now = clock.monotonic();
    if (!hurried && (now > deadline || options.hurry?.aborted === true)) {
      hurried = true;
      deadline = now + killedMs;
      options.note?.("killing what is left");
      signalProcess(identity, "SIGTERM");
    } else if (now > deadline) {
      signalProcess(identity, "SIGKILL");
      while (isAlive(identity)) await clock.sleep(50);
      await stopAbandoned(dataDir, clock, 0);
      throw errors.CliClusterStartFailed(`stop the cluster process ${identity.pid}: it did not end and was killed`);
    }
    if (!hurried && now > lookAt) {
      lookAt = now + lookEveryMs;
      const names = (await options.stillRunning?.()) ?? [];
      if (names.length > 0) options.note?.(`waiting for ${names.join(", ")}`);
    }
    await clock.sleep(50);
  }
  return { found: true, abandoned: 0 };
}

async function stopAbandoned(dataDir: DataDir, clock: Clock, graceMs: number, hurry?: AbortSignal): Promise<number> {
  const state = await readClusterState(dataDir);
  if (state === undefined) return 0;
  const stopped = await haltNodes(dataDir.path, dataDir.nodes, { clock, graceMs, ...(hurry ? { hurry } : {}) });
  if (process.getuid?.() === 0) await removePodNetwork(podNetworkOctet(state.podNetwork));
  return stopped;
}

/** Pods with a container that runs, by namespace and name; none when the API server does not answer any more. */
export async function runningPods(client: KubeClient): Promise<string[]> {
  try {
    const { items } = await client.list(pods);
    return items
      .filter(({ status }) => status?.containerStatuses?.some(({ state }) => state?.running !== undefined) === true)
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  } catch {
    // The cluster is about to end.
    return [];
  }
}

async function startFailure(dataDir: DataDir, what: string): Promise<Error> {
  const log = await readFile(dataDir.clusterLog, "utf8").catch(() => "");
  const lines = log.trimEnd().split("\n").slice(-5).join("\n  ");
  const message = `start the cluster in ${dataDir.path}: ${what}; the end of its log:\n  ${lines}`;
  return /EADDRINUSE/.test(lines)
    ? errors.CliPortTaken(`${message}\n  choose another port with --port`)
    : errors.CliClusterStartFailed(message);
}
