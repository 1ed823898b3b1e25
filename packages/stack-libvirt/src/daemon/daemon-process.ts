import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { daemonConfiguration, daemonEnvironment, type DaemonLayout } from "./daemon-layout.ts";

export interface DaemonExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** The last lines that it wrote. */
  readonly output: string;
}

export interface DaemonProcess {
  readonly pid: number;
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<DaemonExit>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

interface SpawnOptions {
  readonly program: string;
  readonly layout: DaemonLayout;
  /** What the daemon is started by: see `daemon-user.ts`. */
  readonly userCommand: readonly string[];
  readonly onLine: (line: string) => void;
}

const lastLines = 20;

/** Starts the daemon as a child that the kernel ends when the launcher dies. Rejects when it cannot be started at all. */
export function spawnDaemon(options: SpawnOptions): Promise<DaemonProcess> {
  const { program, layout, userCommand } = options;
  const [command, ...args] = [
    ...userCommand,
    "setpriv",
    "--pdeathsig",
    "KILL",
    "--",
    // The daemon's own path has no programs but those that it may run, so these two are started with the usual one.
    "env",
    `PATH=${layout.programs}`,
    program,
    "--config",
    daemonConfiguration(layout),
    "--pid-file",
    `${layout.runtime}/daemon.pid`,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "ignore", "pipe"],
      // A signal to the launcher's group must not end the daemon before the guest was asked to end.
      detached: true,
      env: { ...daemonEnvironment(layout), PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    });
    child.once("error", reject);
    child.once("spawn", () => resolve(watch(child, options.onLine)));
  });
}

function watch(child: ChildProcess, onLine: (line: string) => void): DaemonProcess {
  const lines: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.trim() === "") return;
      onLine(line);
      if (lines.push(line) > lastLines) lines.shift();
    });
  }
  const exited = new Promise<DaemonExit>((resolve) => {
    child.once("exit", (code, signal) =>
      resolve({ code: code ?? undefined, signal: signal ?? undefined, output: lines.join("; ") }),
    );
  });
  // "spawn" says that it has a pid.
  return { pid: child.pid as number, exited, kill: (signal) => void child.kill(signal) };
}
