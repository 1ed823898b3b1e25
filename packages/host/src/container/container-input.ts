import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { errors } from "../errors.ts";
import { identifyProcess, signalProcess, type ProcessIdentity } from "../process-identity.ts";
import { resizeTerminal } from "../terminal.ts";
import { createDescriptorWriter } from "./descriptor-writer.ts";

/** In a container's directory: the pipe that its standard input, or its terminal, is read from. */
const pipeFile = "stdin";
/** Identity of the process that keeps the pipe open for writing, so that the container waits instead of reading its end. */
const keeperFile = "stdin-keeper";
const { O_RDONLY, O_RDWR, O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;

/**
 * Makes the standard input of a container that is to be started; it outlives this program. The caller closes the
 * descriptor once the container has it.
 */
export function createInput(directory: string): number {
  const pipe = path.join(directory, pipeFile);
  execFileSync("mkfifo", ["-m", "600", pipe], { env: { PATH: "/usr/bin:/bin" } });
  const both = fs.openSync(pipe, O_RDWR);
  try {
    const keeper = spawn("sleep", ["infinity"], {
      detached: true,
      cwd: "/",
      stdio: ["ignore", "ignore", "ignore", both],
      env: { PATH: "/usr/bin:/bin" },
    });
    keeper.on("error", () => {});
    keeper.unref();
    const identity = keeper.pid === undefined ? undefined : identifyProcess(keeper.pid);
    if (identity === undefined)
      throw errors.HostCallFailed("keep the input of a container open: sleep was not started");
    fs.writeFileSync(path.join(directory, keeperFile), JSON.stringify(identity), { mode: 0o600 });
    return fs.openSync(pipe, O_RDONLY);
  } finally {
    fs.closeSync(both);
  }
}

/** The container reads the end of its input once it has read what is in the pipe. */
export function closeInput(directory: string): void {
  try {
    const text = fs.readFileSync(path.join(directory, keeperFile), "utf8");
    // Written by createInput.
    signalProcess(JSON.parse(text) as ProcessIdentity, "SIGKILL");
    fs.rmSync(path.join(directory, keeperFile), { force: true });
  } catch {
    // It has no input, or it is closed already.
  }
}

/** What somebody who attaches to a running container can do to it. */
export interface ContainerInput {
  write(data: Buffer): void;
  /** Gives the pipe back; the container goes on waiting for input. */
  release(): void;
}

export function openInput(directory: string): ContainerInput {
  let descriptor: number;
  try {
    descriptor = fs.openSync(path.join(directory, pipeFile), O_WRONLY | O_NONBLOCK);
  } catch (cause) {
    throw errors.HostProcessGone("write to a container: it has no standard input, or it has ended", { cause });
  }
  const writer = createDescriptorWriter(descriptor);
  return {
    write: (data) => writer.write(data),
    release: () => writer.close(),
  };
}

/** Tells the terminal of a container how large the window is that shows it. */
export function resizeContainer(shim: ProcessIdentity, columns: number, rows: number): void {
  // The shim keeps the terminal as its own standard input, whatever the container does with its own.
  const descriptor = fs.openSync(`/proc/${shim.pid}/fd/0`, O_RDWR | O_NOCTTY | O_NONBLOCK);
  try {
    resizeTerminal(descriptor, columns, rows);
  } finally {
    fs.closeSync(descriptor);
  }
}
