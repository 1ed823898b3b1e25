import type { ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as tty from "node:tty";
import type { Container } from "@polyvirt/api/k8s";
import { describeError } from "@polyvirt/core";
import { execInContainer, openTerminal, type ProcessIdentity, type Terminal } from "@polyvirt/host";
import type { WebSocket } from "ws";
import type { PodRecord } from "../pod-record.ts";
import { credentialsOf } from "../security.ts";
import { channels, exitStatus, failureStatus, frame, parseSize, type ChannelProtocol } from "./channel-protocol.ts";

export interface ExecRequest {
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** What the kubelet's server reads from the query of `/exec/…`. */
export function parseExecRequest(query: URLSearchParams): ExecRequest {
  const flag = (...names: string[]): boolean => names.some((name) => ["1", "true"].includes(query.get(name) ?? ""));
  return {
    command: query.getAll("command"),
    stdin: flag("input", "stdin"),
    stdout: flag("output", "stdout"),
    stderr: flag("error", "stderr"),
    tty: flag("tty"),
  };
}

interface ExecTarget {
  readonly record: PodRecord;
  readonly container: Container;
  readonly directory: string;
  readonly init: ProcessIdentity;
}

const pauseAboveBytes = 1024 * 1024;
const drainMs = 20;

/** Runs a command in a container with its streams on the WebSocket; the command ends when the client goes away. */
export function serveExec(
  socket: WebSocket,
  protocol: ChannelProtocol,
  target: ExecTarget,
  request: ExecRequest,
): void {
  const terminal = request.tty ? openTerminal() : undefined;
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
    return finish(socket, failureStatus(describeError(error)));
  }
  // Tells the client that the streams are there.
  socket.send(frame(channels.stdout, Buffer.alloc(0)));
  const input = terminal === undefined ? pipeInput(child) : terminalInput(terminal);
  const outputEnded = terminal === undefined ? pipeOutput(socket, child, request) : terminalOutput(socket, terminal);
  if (!request.stdin) input.end();
  socket.on("message", (data: Buffer) => {
    const channel = data[0];
    const content = data.subarray(1);
    if (channel === channels.stdin && request.stdin) input.write(content);
    else if (channel === channels.close && protocol === "v5.channel.k8s.io" && content[0] === channels.stdin)
      input.end();
    else if (channel === channels.resize) resize(terminal, content);
  });
  socket.once("close", () => child.kill("SIGKILL"));
  child.once("error", (error) => finish(socket, failureStatus(error.message)));
  child.once("exit", (code, signal) => {
    void outputEnded().then(() => finish(socket, exitStatus(code, signal)));
  });
}

function resize(terminal: Terminal | undefined, content: Buffer): void {
  const size = parseSize(content);
  if (terminal !== undefined && size !== undefined) terminal.resize(size.columns, size.rows);
}

function finish(socket: WebSocket, status: object): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(frame(channels.error, Buffer.from(JSON.stringify(status))));
  socket.close(1000);
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

/** The terminal's buffer is small: what does not fit is tried again, in order. */
function terminalInput({ master }: Terminal): Input {
  const waiting: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    for (let data = waiting[0]; data !== undefined; data = waiting[0]) {
      try {
        const written = fs.writeSync(master, data);
        if (written < data.length) waiting[0] = data.subarray(written);
        else waiting.shift();
      } catch (error) {
        const full = error instanceof Error && "code" in error && error.code === "EAGAIN";
        if (full) timer = setTimeout(flush, drainMs);
        else waiting.length = 0;
        return;
      }
    }
  };
  const write = (data: Buffer): void => {
    waiting.push(data);
    if (timer === undefined) flush();
  };
  // End of file on a terminal is a character.
  return { write, end: () => write(Buffer.from([4])) };
}

function pipeOutput(socket: WebSocket, child: ChildProcess, request: ExecRequest): () => Promise<void> {
  const streams = [
    { stream: child.stdout, channel: channels.stdout, wanted: request.stdout },
    { stream: child.stderr, channel: channels.stderr, wanted: request.stderr },
  ];
  const ended = streams.map(({ stream, channel, wanted }) => {
    if (stream === null) return Promise.resolve();
    stream.on("data", (data: Buffer) => {
      if (!wanted || socket.readyState !== socket.OPEN) return;
      send(socket, frame(channel, data), stream);
    });
    return new Promise<void>((resolve) => {
      stream.once("close", resolve);
    });
  });
  return async () => {
    await Promise.race([Promise.all(ended), new Promise((resolve) => setTimeout(resolve, 1000))]);
  };
}

/** A slow client slows the command down instead of filling our memory. */
function send(socket: WebSocket, data: Buffer, source: { pause(): unknown; resume(): unknown }): void {
  socket.send(data, () => {
    if (socket.bufferedAmount < pauseAboveBytes) source.resume();
  });
  if (socket.bufferedAmount >= pauseAboveBytes) source.pause();
}

function terminalOutput(socket: WebSocket, terminal: Terminal): () => Promise<void> {
  // Only the command has the other end now, so that its end is ours.
  fs.closeSync(terminal.slave);
  const stream = new tty.ReadStream(terminal.master);
  const ended = new Promise<void>((resolve) => {
    // Reading a terminal whose other end is closed fails with EIO: that is its end of file.
    stream.once("error", () => resolve());
    stream.once("end", resolve);
    stream.once("close", resolve);
  });
  stream.on("data", (data: Buffer) => {
    if (socket.readyState === socket.OPEN) send(socket, frame(channels.stdout, data), stream);
  });
  return async () => {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1000))]);
    stream.destroy();
  };
}

function closeTerminal(terminal: Terminal): void {
  fs.closeSync(terminal.slave);
  fs.closeSync(terminal.master);
}
