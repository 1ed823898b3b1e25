import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Readable } from "node:stream";
import type { Clock, Timer } from "@polyvirt/core";
import { errors } from "../errors.ts";
import { bootId } from "../machine-facts.ts";
import { isAlive, listProcesses, identifyProcess, signalProcess, type SignalName } from "../process-identity.ts";
import { environmentFile } from "./container-exec.ts";
import { closeInput, createInput } from "./container-input.ts";
import { createGroups, killGroups, recordedGroups, removeGroups } from "./cgroup.ts";
import { interruptedFile, readContainerState, type ContainerState } from "./container-state.ts";
import { shimEnvironment, unshareFlags, type ContainerSpec } from "./container-spec.ts";
import { mountTables } from "./mount-table.ts";
import { separateMounts } from "./separate-mounts.ts";
import { innerShim, outerShim } from "./shim-script.ts";

/** A container that was started by this program or by an earlier one that used the same directory. */
export interface ContainerProcess {
  readonly directory: string;
  /** Limits that this machine does not let us set: `cpu`, `memory`. Known only to the program that started it. */
  readonly unenforced: readonly string[];
  state(): ContainerState;
  /** Called after each change of state, until the container has ended. */
  onChange(listener: () => void): void;
  signal(signal: SignalName): void;
  /** Ends every process of the container. */
  kill(): void;
  /** Records that the node ends it for reasons of its own, which `state` then tells. */
  markInterrupted(): void;
  /** Stops watching; the container goes on. */
  detach(): void;
}

const adoptedPollMs = 500;
const setupLimitMs = 60_000;
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin";

/** What a container should see although an overlay of `/` may not show it. */
const usualPaths = ["/bin", "/etc", "/home", "/lib", "/opt", "/root", "/sbin", "/srv", "/tmp", "/usr", "/var"];

/**
 * Starts a container in `directory`, which must not exist yet. The shim is a session of its own: it and the container
 * survive the end of this program, and `adoptContainer` finds them again.
 *
 * SAFETY: the container has its own mount and (unless hostPid) process namespace, a root of its own, and only the
 * capabilities that its credentials name. It shares the machine's network unless it names a namespace.
 */
export function startContainer(directory: string, spec: ContainerSpec, clock: Clock): ContainerProcess {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (fs.existsSync(path.join(directory, "boot-id"))) {
    throw errors.HostCallFailed(`start a container in ${directory}: another one was started there`);
  }
  fs.mkdirSync(path.join(directory, "root"), { recursive: true });
  fs.writeFileSync(path.join(directory, "boot-id"), bootId());
  fs.writeFileSync(path.join(directory, environmentFile), JSON.stringify([...spec.environment]), { mode: 0o600 });
  const stdout = fs.openSync(path.join(directory, "stdout"), "a", 0o600);
  const stderr = fs.openSync(path.join(directory, "stderr"), "a", 0o600);
  let stdin: number | undefined;
  try {
    if (spec.input) stdin = createInput(directory);
    const rootless = process.getuid?.() !== 0;
    const mountInfo = fs.readFileSync("/proc/self/mountinfo", "utf8");
    const lowers = separateMounts(mountInfo, [...usualPaths, ...spec.visiblePaths]);
    const groups = createGroups(directory, spec.groupName, spec.limits);
    const tables = mountTables(spec, { directory, rootless, exists: fs.existsSync });
    for (const [name, table] of Object.entries(tables)) {
      fs.writeFileSync(path.join(directory, `mounts-${name}`), table as string, { mode: 0o600 });
    }
    const [program = "unshare", ...rest] = launchCommand(spec, rootless);
    const child = spawn(program, rest, {
      detached: true,
      cwd: "/",
      stdio: [stdin ?? "ignore", stdout, stderr, "pipe"],
      env: {
        PATH: systemPath,
        ...shimEnvironment(spec, { directory, innerScript: innerShim, rootless, lowers, groups: groups.directories }),
      },
    });
    const watched = watchContainer(directory, clock, true, groups.unenforced);
    child.once("exit", () => {
      if (!fs.existsSync(path.join(directory, "shim"))) recordFailure(directory, "unshare failed");
      watched.shimEnded();
    });
    child.once("error", (error) => {
      recordFailure(directory, error.message);
      watched.shimEnded();
    });
    // The fourth descriptor is a pipe to us by the stdio list above.
    const started = child.stdio[3] as Readable;
    started.on("error", () => {});
    started.once("data", () => {
      started.destroy();
      watched.check();
    });
    child.unref();
    return watched.container;
  } finally {
    for (const descriptor of [stdin, stdout, stderr]) if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/** The programs that stand around the shim, outermost first: a terminal, other namespaces to enter, new ones. */
function launchCommand(spec: ContainerSpec, rootless: boolean): string[] {
  const { networkNamespace, processNamespace } = spec;
  if (processNamespace !== undefined && !isAlive(processNamespace)) {
    throw errors.HostProcessGone("start a container in the process namespace of another one: that one has ended");
  }
  const entered = [
    ...(networkNamespace === undefined ? [] : [`--net=${networkNamespace}`]),
    // Without a fork the shim stays outside, as with a namespace of the container's own.
    ...(processNamespace === undefined ? [] : ["--no-fork", `--pid=/proc/${processNamespace.pid}/ns/pid`]),
  ];
  const command = [
    ...(entered.length === 0 ? [] : ["nsenter", ...entered]),
    "unshare",
    ...unshareFlags(spec, rootless),
    "--",
    "/bin/sh",
    "-c",
    outerShim,
    "container-shim",
  ];
  if (!spec.terminal) return command;
  // It holds the terminal and copies both ways, also when the program that started it is gone.
  return ["script", "--quiet", "--flush", "--return", "--command", `exec ${command.map(quote).join(" ")}`, "/dev/null"];
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The shim itself could not be started: no user namespaces, no `unshare`. Recorded as the shim would have done. */
function recordFailure(directory: string, what: string): void {
  try {
    const said = fs.readFileSync(path.join(directory, "stderr"), "utf8").trim();
    const need = 'containers need the program "unshare" and, without root, user namespaces';
    fs.writeFileSync(path.join(directory, "setup-error"), `${what}: ${said === "" ? need : `${said}; ${need}`}`);
    fs.writeFileSync(path.join(directory, "exit"), "125\n");
  } catch {
    // The directory is gone: the container had ended and was removed before its shim was reaped.
  }
}

/** Takes over a container that an earlier program started in `directory`. */
export function adoptContainer(directory: string, clock: Clock): ContainerProcess {
  const watched = watchContainer(directory, clock, false);
  watched.poll();
  return watched.container;
}

interface Watched {
  readonly container: ContainerProcess;
  check(): void;
  shimEnded(): void;
  poll(): void;
}

function watchContainer(
  directory: string,
  clock: Clock,
  ownChild: boolean,
  unenforced: readonly string[] = [],
): Watched {
  const listeners: (() => void)[] = [];
  let started = ownChild;
  let phase: ContainerState["phase"] = "starting";
  let timer: Timer | undefined;
  let watcher: fs.FSWatcher | undefined;
  const groups = recordedGroups(directory);
  const since = clock.monotonic();
  const state = (): ContainerState => readContainerState(directory, clock.now(), started);

  const check = (): void => {
    const current = state();
    if (current.phase === "starting" && clock.monotonic() - since > setupLimitMs) kill();
    if (current.phase === phase) return;
    phase = current.phase;
    if (current.phase === "exited") {
      if (current.lost) killLeftOvers(current);
      removeGroups(directory, groups, clock);
      closeInput(directory);
      detach();
    }
    for (const listener of listeners) listener();
  };
  const poll = (): void => {
    check();
    if (phase === "exited") return;
    // Writing the exit file wakes us at once; the timer is for a shim that was killed and wrote nothing.
    watcher ??= watchDirectory();
    timer = clock.setTimer(adoptedPollMs, poll);
  };
  const watchDirectory = (): fs.FSWatcher => {
    const created = fs.watch(directory, { persistent: false }, (_event, name) => {
      if (name === "exit" || name === "ready") check();
    });
    return created.on("error", () => {});
  };
  const detach = (): void => {
    timer?.cancel();
    watcher?.close();
  };
  const kill = (): void => {
    const current = state();
    killContainer(directory, current);
    // Its first process may not have joined its groups yet: without them it cannot, and gives up.
    if (current.phase === "starting") removeGroups(directory, groups, clock);
  };
  const container: ContainerProcess = {
    directory,
    unenforced,
    state,
    onChange: (listener) => void listeners.push(listener),
    signal(signal) {
      const current = state();
      if (current.phase === "running") signalProcess(current.init, signal);
    },
    kill,
    markInterrupted: () => fs.writeFileSync(path.join(directory, interruptedFile), ""),
    detach,
  };
  const shimEnded = (): void => {
    started = false;
    check();
  };
  return { container, check, shimEnded, poll };
}

/**
 * With its own process namespace the end of the first process is the end of all. A container that shares the machine's
 * process ids is found by its control group, or without one by its session, which its shim leads, and by descent.
 */
function killContainer(directory: string, state: ContainerState): void {
  if (killGroups(directory) && state.phase !== "starting") return;
  if (state.phase === "exited") return killLeftOvers(state);
  if (state.phase === "running") {
    const others = state.shim === undefined ? [] : descendantsOf(state.shim.pid);
    signalProcess(state.init, "SIGKILL");
    for (const pid of others) signalPid(pid);
  } else if (state.shim !== undefined) {
    for (const pid of descendantsOf(state.shim.pid)) signalPid(pid);
  }
}

function killLeftOvers(state: ContainerState & { phase: "exited" }): void {
  if (state.init !== undefined) signalProcess(state.init, "SIGKILL");
}

function signalPid(pid: number): void {
  const identity = identifyProcess(pid);
  if (identity !== undefined) signalProcess(identity, "SIGKILL");
}

/** Everything below the shim, which itself has to live to report how the container ended. */
function descendantsOf(shim: number): number[] {
  const processes = listProcesses();
  const found = new Set<number>([shim]);
  for (let grown = true; grown;) {
    grown = false;
    for (const { pid, parent, session } of processes) {
      if (found.has(pid) || !(found.has(parent) || session === shim)) continue;
      found.add(pid);
      grown = true;
    }
  }
  found.delete(shim);
  return [...found];
}
