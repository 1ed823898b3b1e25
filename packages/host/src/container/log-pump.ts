import * as fs from "node:fs";
import * as path from "node:path";
import type { Clock, Timer } from "@polyvirt/core";
import { formatLogLines, type LogStream } from "./log-format.ts";
import { releaseRange } from "../release-range.ts";

/**
 * Turns a container's raw output into a log with times and stream names (the format of Kubernetes' container runtimes).
 *
 * The container writes to plain files, so it never waits for us and never loses a line, also while no kubelet runs. The
 * pump reads what is new, appends it to the log, and records how far it came *after* that; when it finds a log longer than
 * the record says, a predecessor was killed in between: it cuts the log back and repeats the step. So each line is in
 * the log exactly once. What was read is given back to the disk by punching a hole into the raw file.
 */
export interface LogPump {
  /** Reads what is there now, as far as one turn goes. */
  drain(): void;
  /** The container has ended: reads the rest, also a last line without its newline, and then closes. */
  finish(): void;
  /** Returns how to stop listening. */
  onAppend(listener: () => void): () => void;
  close(): void;
}

interface LogPumpOptions {
  readonly directory: string;
  readonly logFile: string;
  readonly clock: Clock;
  /** A log that grows beyond this is moved to `<name>.1` … and the oldest removed. */
  readonly maxBytes?: number;
  readonly keep?: number;
}

interface Progress {
  stdout: number;
  stderr: number;
  /** Size of the log when this was written. */
  log: number;
}

const streams: readonly LogStream[] = ["stdout", "stderr"];
const chunkBytes = 256 * 1024;
const releaseBytes = 1024 * 1024;
/** Longer lines are split, as container runtimes do. */
const lineBytes = 16 * 1024;
const gatherMs = 20;
const retryMs = 1000;
const chunksPerTurn = 8;
const newline = 0x0a;

export function createLogPump(options: LogPumpOptions): LogPump {
  const { directory, logFile, clock } = options;
  const listeners = new Set<() => void>();
  let timer: Timer | undefined;
  let ended = false;
  let watcher: fs.FSWatcher | undefined;
  const progress = recover(directory, logFile);
  const released: Record<LogStream, number> = { stdout: 0, stderr: 0 };

  const drain = (): void => {
    timer?.cancel();
    timer = undefined;
    try {
      drainTurn();
    } catch {
      // A full disk, most likely: nothing is lost, it waits in the raw output.
      schedule(retryMs);
    }
  };

  /** A part of what is there: a container that writes faster than we read must not stop everything else. */
  const drainTurn = (): void => {
    let chunks = 0;
    const more = streams.map((stream) => {
      for (let turn = 0; turn < chunksPerTurn; turn++, chunks++) if (!pumpChunk(stream)) return false;
      return true;
    });
    if (progress.log > (options.maxBytes ?? 10 * 1024 * 1024)) rotate(logFile, options.keep ?? 5, progress);
    if (chunks > 0) for (const listener of listeners) listener();
    if (more.includes(true)) schedule(0);
    else if (ended) close();
  };

  const schedule = (delayMs: number): void => {
    timer ??= clock.setTimer(delayMs, drain);
  };

  const close = (): void => {
    timer?.cancel();
    watcher?.close();
    watcher = undefined;
  };

  const pumpChunk = (stream: LogStream): boolean => {
    const { bytes, size } = readChunk(path.join(directory, stream), progress[stream]);
    // The container can cut its own output off; it goes on behind what is left.
    if (size < progress[stream]) progress[stream] = size;
    const complete = completeLength(bytes, ended);
    if (complete === 0) return false;
    const text = formatLogLines(bytes.subarray(0, complete), stream, clock.now(), lineBytes);
    fs.appendFileSync(logFile, text, { mode: 0o600 });
    progress[stream] += complete;
    progress.log += text.length;
    writeProgress(directory, progress);
    if (progress[stream] - released[stream] > releaseBytes) {
      releaseRange(path.join(directory, stream), progress[stream]);
      released[stream] = progress[stream];
    }
    return true;
  };

  watcher = fs.watch(directory, { persistent: false }, (_event, name) => {
    if (name !== "stdout" && name !== "stderr") return;
    schedule(gatherMs);
  });
  watcher.on("error", () => {});
  drain();
  return {
    drain,
    onAppend(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    finish() {
      ended = true;
      drain();
    },
    close,
  };
}

/** Whole lines, or a piece of one that is too long, or everything at the end. */
function completeLength(bytes: Buffer, ended: boolean): number {
  const last = bytes.lastIndexOf(newline);
  if (last >= 0) return last + 1;
  return ended || bytes.length >= lineBytes ? bytes.length : 0;
}

function readChunk(file: string, position: number): { bytes: Buffer; size: number } {
  let fd: number;
  try {
    fd = fs.openSync(file, "r");
  } catch {
    // The container's directory was removed: there is nothing more to read.
    return { bytes: Buffer.alloc(0), size: position };
  }
  try {
    const { size } = fs.fstatSync(fd);
    const bytes = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(0, size - position)));
    return { bytes: bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, position)), size };
  } finally {
    fs.closeSync(fd);
  }
}

function recover(directory: string, logFile: string): Progress {
  fs.mkdirSync(path.dirname(logFile), { recursive: true, mode: 0o700 });
  const size = fs.statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const recorded = readProgress(directory);
  if (size > recorded.log) fs.truncateSync(logFile, recorded.log);
  return { ...recorded, log: Math.min(size, recorded.log) };
}

function readProgress(directory: string): Progress {
  try {
    const [stdout = 0, stderr = 0, log = 0] = fs
      .readFileSync(path.join(directory, "log-progress"), "utf8")
      .split(" ")
      .map(Number);
    return { stdout, stderr, log };
  } catch {
    // Nothing was pumped yet.
    return { stdout: 0, stderr: 0, log: 0 };
  }
}

/** One small write at a fixed width: it is there as a whole or not at all when the process is killed. */
function writeProgress(directory: string, { stdout, stderr, log }: Progress): void {
  const text = [stdout, stderr, log].map((value) => String(value).padStart(16, "0")).join(" ");
  const fd = fs.openSync(path.join(directory, "log-progress"), fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600);
  try {
    fs.writeSync(fd, text, 0);
  } finally {
    fs.closeSync(fd);
  }
}

function rotate(logFile: string, keep: number, progress: Progress): void {
  for (let index = keep - 1; index >= 1; index--) {
    const from = index === 1 ? logFile : `${logFile}.${index - 1}`;
    if (fs.existsSync(from)) fs.renameSync(from, `${logFile}.${index}`);
  }
  progress.log = 0;
}
