import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

export interface ChildProgram {
  readonly pid: number;
  /** Ends it, hard after ten seconds, and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program whose words go to a file, and waits until it is ready; fails with its last words if it ends before. */
export async function startProgram(
  program: string,
  args: readonly string[],
  options: { log: string; ready: () => Promise<boolean>; limitMs?: number },
): Promise<ChildProgram> {
  const log = openSync(options.log, "a");
  const child = spawn(program, args, { stdio: ["ignore", log, log] });
  closeSync(log);
  const ended = new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.on("exit", () => resolve());
  });
  const started: ChildProgram = { pid: child.pid ?? 0, stop: (signal) => stopChild(child, ended, signal) };
  const deadline = Date.now() + (options.limitMs ?? 60_000);
  while (!(await options.ready())) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      await started.stop("SIGKILL");
      throw new Error(`${program} did not get ready:\n${readFileSync(options.log, "utf8").slice(-2000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return started;
}

async function stopChild(child: ChildProcess, ended: Promise<void>, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  const patience = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(patience);
}
