import type { ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import type { Readable } from "node:stream";
import * as tty from "node:tty";
import type { Container } from "@polyvirt/api/k8s";
import { describeError } from "@polyvirt/core";
import {
  createDescriptorWriter,
  execInContainer,
  openTerminal,
  type ProcessIdentity,
  type Terminal,
} from "@polyvirt/host";
import type { PodRecord } from "../pod-record.ts";
import { credentialsOf } from "../security.ts";
import { exitStatus, failureStatus } from "./channel-protocol.ts";
import type { RemoteStreams } from "./remote-streams.ts";

/** Which streams a client of exec or attach wants. */
export interface StreamRequest {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface ExecRequest extends StreamRequest {
  readonly command: readonly string[];
}

/** What the kubelet's server reads from the query of `/exec/…` and `/attach/…`. */
export function parseExecRequest(query: URLSearchParams): ExecRequest {
  const flag = (...names: string[]): boolean => names.some((name) => ["1", "true"].includes(query.get(name) ?? ""));
  const terminal = flag("tty");
  return {
    command: query.getAll("command"),
    stdin: flag("input", "stdin"),
    stdout: flag("output", "stdout"),
    // A terminal has one output.
    stderr: flag("error", "stderr") && !terminal,
    tty: terminal,
  };
}

interface ExecTarget {
  readonly record: PodRecord;
  readonly container: Container;
  readonly directory: string;
  readonly init: ProcessIdentity;
}

const outputEndMs = 1000;
const endOfFile = Buffer.from([4]);

/** Runs a command in a container with its streams at the client; the command ends when the client goes away. */
export function serveExec(streams: RemoteStreams, target: ExecTarget, request: ExecRequest): void {
  const terminal = request.tty ? openTerminal(target.init) : undefined;
  let child: ChildProcess;
  try {
    child = execInContainer({
      directory: target.directory,
      init: target.init,
      command: request.command,
      credentials: credentialsOf(target.record.pod, target.container),
      privileged: target.container.securityContext?.privileged === true,
      workingDirectory: target.container.workingDir ?? "/",
      ...(terminal === undefined ? {} : { terminal: terminal.slave }),
    });
  } catch (error) {
    if (terminal !== undefined) closeTerminal(terminal);
    return streams.finish(failureStatus(describeError(error)));
  }
  const input = terminal === undefined ? pipeInput(child) : terminalInput(terminal);
  const outputEnded = terminal === undefined ? pipeOutput(streams, child, request) : terminalOutput(streams, terminal);
  if (!request.stdin) input.end();
  else {
    streams.onInput((data) => input.write(data));
    streams.onInputEnd(() => input.end());
  }
  streams.onResize(({ columns, rows }) => terminal?.resize(columns, rows));
  streams.onClose(() => child.kill("SIGKILL"));
  child.once("error", (error) => streams.finish(failureStatus(error.message)));
  child.once("exit", (code, signal) => {
    void outputEnded().then(() => streams.finish(exitStatus(code, signal)));
  });
}

interface Input {
  write(data: Buffer): void;
  end(): void;
}

function pipeInput(child: ChildProcess): Input {
  // The command may end without reading everything.
  child.stdin?.on("error", () => {});
  return { write: (data) => void child.stdin?.write(data), end: () => void child.stdin?.end() };
}

/** The stream below reads and closes the terminal, so the writer never does. */
function terminalInput({ master }: Terminal): Input {
  const writer = createDescriptorWriter(master);
  // End of file on a terminal is a character.
  return { write: (data) => writer.write(data), end: () => writer.write(endOfFile) };
}

function pipeOutput(streams: RemoteStreams, child: ChildProcess, request: StreamRequest): () => Promise<void> {
  const ended = (["stdout", "stderr"] as const).map((name) => {
    const stream = child[name];
    if (stream === null) return Promise.resolve();
    forward(stream, (data) => (request[name] ? streams.send(name, data) : undefined));
    return new Promise<void>((resolve) => {
      stream.once("close", resolve);
    });
  });
  return () => within(Promise.all(ended));
}

/** A slow client slows the command down instead of filling our memory. */
function forward(stream: Readable, send: (data: Buffer) => Promise<void> | undefined): void {
  stream.on("data", (data: Buffer) => {
    const taken = send(data);
    if (taken === undefined) return;
    stream.pause();
    void taken.then(() => stream.resume());
  });
}

function terminalOutput(streams: RemoteStreams, terminal: Terminal): () => Promise<void> {
  // Only the command has the other end now, so that its end is ours.
  fs.closeSync(terminal.slave);
  const stream = new tty.ReadStream(terminal.master);
  const ended = new Promise<void>((resolve) => {
    // Reading a terminal whose other end is closed fails with EIO: that is its end of file.
    stream.once("error", () => resolve());
    stream.once("end", resolve);
    stream.once("close", resolve);
  });
  forward(stream, (data) => streams.send("stdout", data));
  return async () => {
    await within(ended);
    stream.destroy();
  };
}

/** What a command leaves behind in the background may keep its output open for ever. */
async function within(ended: Promise<unknown>): Promise<void> {
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, outputEndMs))]);
}

function closeTerminal(terminal: Terminal): void {
  fs.closeSync(terminal.slave);
  fs.closeSync(terminal.master);
}
