import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@polyvirt/core";
import { isAlive, signalProcess } from "@polyvirt/host";
import type { KubeClient } from "@polyvirt/kube";
import { findClusterProcess, type DataDir } from "./data-dir.ts";
import { errors } from "./errors.ts";

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

/**
 * Asks the cluster process to stop: it ends every pod within its grace period, then itself. True when there was one.
 * After the limit it is killed, which leaves pods behind for the next start to find.
 */
export async function stopCluster(dataDir: DataDir, clock: Clock, limitMs: number): Promise<boolean> {
  const identity = await findClusterProcess(dataDir);
  if (identity === undefined) return false;
  signalProcess(identity, "SIGTERM");
  const deadline = clock.monotonic() + limitMs;
  while (isAlive(identity)) {
    if (clock.monotonic() > deadline) {
      signalProcess(identity, "SIGKILL");
      throw errors.CliClusterStartFailed(
        `stop the cluster process ${identity.pid}: it did not end within ${limitMs / 1000} s and was killed`,
      );
    }
    await clock.sleep(50);
  }
  return true;
}

async function startFailure(dataDir: DataDir, what: string): Promise<Error> {
  const log = await readFile(dataDir.clusterLog, "utf8").catch(() => "");
  const lines = log.trimEnd().split("\n").slice(-5).join("\n  ");
  const message = `start the cluster in ${dataDir.path}: ${what}; the end of its log:\n  ${lines}`;
  return /EADDRINUSE/.test(lines)
    ? errors.CliPortTaken(`${message}\n  choose another port with --port`)
    : errors.CliClusterStartFailed(message);
}
