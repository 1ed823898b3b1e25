import * as fs from "node:fs";
import * as path from "node:path";
import { bootId as currentBootId } from "../machine-facts.ts";
import { ranOutOfMemory } from "./cgroup.ts";
import { isAlive, parseProcessStat, type ProcessIdentity } from "../process-identity.ts";

/** What the files of a container's directory say about it: enough for a program that did not start it itself. */
export type ContainerState =
  | { readonly phase: "starting"; readonly shim?: ProcessIdentity }
  | {
      readonly phase: "running";
      readonly shim?: ProcessIdentity;
      readonly init: ProcessIdentity;
      readonly startedAt: number;
    }
  | {
      readonly phase: "exited";
      readonly exitCode: number;
      readonly startedAt?: number;
      readonly finishedAt: number;
      /** Why the command was never executed. */
      readonly setupError?: string;
      /** The kernel killed a process of it that went over the memory limit. */
      readonly outOfMemory: boolean;
      /** The exit code was not recorded: the machine went down, or somebody killed the shim. */
      readonly lost: boolean;
      /** It did not end by itself: the node was shut down, or the machine was. */
      readonly interrupted: boolean;
      /** Left over when only the shim was killed. */
      readonly init?: ProcessIdentity;
    };

/** In a container's directory: it was ended because the node went down. */
export const interruptedFile = "interrupted";
const lostExitCode = 137;
const setupErrorBytes = 4096;

/**
 * `started` tells that the shim was started by this program just now, so that its missing files mean "not yet" and not
 * "never".
 */
export function readContainerState(directory: string, now: number, started = false): ContainerState {
  const recordedBoot = readText(directory, "boot-id")?.trim() ?? "";
  const shim = readIdentity(directory, "shim", recordedBoot);
  const init = readIdentity(directory, "init", recordedBoot);
  const startedAt = (readText(directory, "ready") ?? "") === "" ? undefined : modifiedAt(directory, "ready");
  const exit = readText(directory, "exit");
  if (exit?.endsWith("\n") === true) {
    const setupError = startedAt === undefined ? readSetupError(directory) : undefined;
    return {
      phase: "exited",
      exitCode: Number.parseInt(exit, 10),
      finishedAt: modifiedAt(directory, "exit") ?? now,
      lost: false,
      interrupted: fs.existsSync(path.join(directory, interruptedFile)),
      outOfMemory: ranOutOfMemory(directory),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(setupError === undefined ? {} : { setupError }),
    };
  }
  const watched = shim === undefined ? started : isAlive(shim);
  if (!watched) {
    return {
      phase: "exited",
      exitCode: lostExitCode,
      finishedAt: now,
      lost: true,
      interrupted: recordedBoot !== currentBootId(),
      outOfMemory: false,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(init !== undefined && isAlive(init) ? { init } : {}),
    };
  }
  if (init === undefined || startedAt === undefined) return { phase: "starting", ...(shim ? { shim } : {}) };
  return { phase: "running", init, startedAt, ...(shim ? { shim } : {}) };
}

function readIdentity(directory: string, name: string, bootId: string): ProcessIdentity | undefined {
  const text = readText(directory, name);
  // A line without its end is still being written.
  if (text === undefined || !text.endsWith("\n")) return undefined;
  const stat = parseProcessStat(text.trimEnd());
  return stat === undefined ? undefined : { pid: stat.pid, startTime: stat.startTime, bootId };
}

function readSetupError(directory: string): string {
  const text = (readText(directory, "setup-error") ?? "").slice(0, setupErrorBytes).trim();
  return text === "" ? "the container ended before its command was executed" : text.split("\n").join("; ");
}

function readText(directory: string, name: string): string | undefined {
  try {
    return fs.readFileSync(path.join(directory, name), "utf8");
  } catch {
    // Not written (yet): absence is the information.
    return undefined;
  }
}

function modifiedAt(directory: string, name: string): number | undefined {
  return fs.statSync(path.join(directory, name), { throwIfNoEntry: false })?.mtimeMs;
}
