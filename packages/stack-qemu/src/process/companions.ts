import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import type { Clock, Logger } from "@polyvirt/core";
import { errors } from "@polyvirt/stack";
import type { Companion, HostNeed } from "../arguments/machine-plan.ts";

/** How long a companion may take until it listens. */
const readyLimitMs = 10_000;
const pollMs = 10;

interface CompanionDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Programs that run beside QEMU for one machine. */
export interface RunningCompanions {
  stop(): void;
}

/** Refuses a machine whose needs the host does not meet, all of them at once, before anything was started. */
export function checkNeeds(name: string, needs: readonly HostNeed[]): void {
  const missing = needs.filter(({ path }) => !existsSync(path));
  if (missing.length === 0) return;
  const reasons = missing.map(({ path, why }) => `${why} (${path} is not there)`).join("; ");
  throw errors.StackStartFailed(`start ${name}: ${reasons}`, { fields: { missing: missing.map(({ path }) => path) } });
}

/** Starts them one after the other; when one does not come up, none is left running. */
export async function startCompanions(
  companions: readonly Companion[],
  { clock, logger }: CompanionDependencies,
): Promise<RunningCompanions> {
  const children: ChildProcess[] = [];
  let stopping = false;
  const stop = (): void => {
    stopping = true;
    for (const child of children) child.kill("SIGTERM");
  };
  try {
    for (const companion of companions) {
      const child = await start(companion, clock, () => stopping, logger);
      children.push(child);
    }
  } catch (error) {
    stop();
    throw error;
  }
  return { stop };
}

async function start(
  { name, program, args, directories, socket }: Companion,
  clock: Clock,
  isStopping: () => boolean,
  logger: Logger,
): Promise<ChildProcess> {
  for (const directory of directories) await mkdir(directory, { recursive: true, mode: 0o700 });
  // Left by an earlier machine of this launcher.
  await rm(socket, { force: true });
  // The kernel ends it with the launcher, as it does QEMU.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", program, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", HOME: "/" },
  });
  let words = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (words = (words + text).slice(-2000)));
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code, signal) => {
    failure ??= `it ended (${signal ?? `exit code ${code}`}): ${words.trim()}`;
    // With QEMU's connection it ends by itself; before that the guest loses what it gave.
    if (code !== 0 && !isStopping()) logger.error("a program beside QEMU ended", { name, failure });
  });
  const deadline = clock.monotonic() + readyLimitMs;
  while (!existsSync(socket)) {
    if (failure === undefined && clock.monotonic() > deadline) failure = "it does not listen";
    if (failure !== undefined) {
      child.kill("SIGKILL");
      throw errors.StackStartFailed(`start ${program} for the machine: ${failure}`, { fields: { program } });
    }
    await clock.sleep(pollMs);
  }
  return child;
}
