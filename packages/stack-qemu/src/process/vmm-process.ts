import { spawn, type ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";

/** How the VMM ended: by itself with a code, or by a signal. */
export interface VmmExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** The end of what it wrote to stderr. */
  readonly stderr: string;
}

export interface VmmProcess {
  readonly pid: number;
  /** Socket that the VMM has inherited as file descriptor 3. */
  readonly monitor: Duplex;
  /** Resolves when the process has ended and all its output was read; never rejects. */
  readonly exited: Promise<VmmExit>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

export type SpawnVmm = (emulator: string, args: readonly string[]) => Promise<VmmProcess>;

/** Descriptor of the monitor socket inside the VMM. */
export const monitorFd = 3;

const stderrLimit = 8 * 1024;

interface SpawnOptions {
  readonly onStderr: (line: string) => void;
}

/**
 * Starts the VMM as a child that the kernel kills when this process dies, however it dies: a guest without its launcher
 * would run on with nobody to stop it. Rejects when the program cannot be started at all.
 */
export function spawnVmm(options: SpawnOptions): SpawnVmm {
  return (emulator, args) =>
    new Promise((resolve, reject) => {
      const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", emulator, ...args], {
        // `pipe` is a socket pair, so descriptor 3 works in both directions.
        stdio: ["ignore", "ignore", "pipe", "pipe"],
        // A session of its own: a signal to the launcher's group must not end the guest before it was asked to.
        detached: true,
        // Only what QEMU may need: the launcher's own environment can hold things that are not the guest's business.
        env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", HOME: "/" },
      });
      child.once("error", reject);
      child.once("spawn", () => {
        child.off("error", reject);
        resolve(supervise(child, options));
      });
    });
}

function supervise(child: ChildProcess, options: SpawnOptions): VmmProcess {
  let stderr = "";
  child.stderr?.setEncoding("utf8");
  child.stderr?.on("data", (text: string) => {
    for (const line of text.split("\n")) if (line.trim() !== "") options.onStderr(line);
    stderr = (stderr + text).slice(-stderrLimit);
  });
  const exited = new Promise<VmmExit>((resolve) => {
    // "close" comes after "exit" and after the last byte of output.
    child.once("close", (code, signal) =>
      resolve({ code: code ?? undefined, signal: signal ?? undefined, stderr: stderr.trim() }),
    );
  });
  // The child was spawned with these pipes, and "spawn" says that it has a pid.
  const monitor = child.stdio[monitorFd] as Duplex;
  monitor.on("error", () => {
    // The monitor client reports it; without a listener a write to a dead VMM would end the launcher.
  });
  return { pid: child.pid as number, monitor, exited, kill: (signal) => void child.kill(signal) };
}
