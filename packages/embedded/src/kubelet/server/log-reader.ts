import * as fs from "node:fs";
import { parseLogLine, type LogPump } from "@polyvirt/host";
import type { LogOptions } from "./log-options.ts";

interface LogSource {
  /** The newest file; `.1`, `.2` … are older. */
  readonly file: string;
  /** The container's pump while it runs, to be told of new lines. */
  readonly pump?: LogPump;
  /** Whether more lines can come. */
  readonly isRunning: () => boolean;
  /** Told when the container ends. */
  readonly onEnd: (listener: () => void) => void;
}

const chunkBytes = 64 * 1024;
const rotations = 9;
const newline = 0x0a;

/** The lines of a container's log as `kubectl logs` shows them, until the end or, following, until the container ends. */
export async function* readLog(source: LogSource, options: LogOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  const format = createFormatter(options);
  let position = { inode: 0, offset: 0 };
  const budget = { bytes: options.limitBytes ?? Number.POSITIVE_INFINITY };
  const cut = (text: Buffer): Buffer => {
    const part = text.subarray(0, budget.bytes);
    budget.bytes -= part.length;
    return part;
  };
  const older = existing(source.file);
  const lines = options.tailLines === undefined ? undefined : lastLines([...older], options);
  if (lines === undefined) {
    for (const file of older.slice(0, -1)) yield* linesOf(file, 0, format, cut);
    position = yield* readFrom(source.file, position, format, cut);
  } else {
    position = positionAtEnd(source.file);
    for (const line of lines) yield cut(format(line));
  }
  while (options.follow && budget.bytes > 0 && !signal.aborted) {
    const running = source.isRunning();
    const before = position.offset;
    position = yield* readFrom(source.file, position, format, cut);
    if (position.offset !== before) continue;
    if (!running) return;
    await nextChange(source, signal);
  }
}

type Formatter = (line: Buffer) => Buffer;

function createFormatter(options: LogOptions): Formatter {
  let atLineStart = true;
  return (line) => {
    const entry = parseLogLine(line);
    if (entry === undefined || !isWanted(line, options)) return Buffer.alloc(0);
    const time = options.timestamps && atLineStart ? Buffer.from(`${entry.time} `) : Buffer.alloc(0);
    atLineStart = entry.complete;
    return Buffer.concat([time, entry.text, Buffer.from(entry.complete ? "\n" : "")]);
  };
}

function isWanted(line: Buffer, { since, stream }: LogOptions): boolean {
  const entry = parseLogLine(line);
  if (entry === undefined || (stream !== undefined && entry.stream !== stream)) return false;
  return since === undefined || Date.parse(entry.time) >= since;
}

/** From the oldest file that is there to the newest. */
function existing(file: string): string[] {
  const rotated = Array.from({ length: rotations }, (_, index) => `${file}.${rotations - index}`);
  return [...rotated.filter((name) => fs.existsSync(name)), file];
}

/** The last lines over all files; a line of several pieces counts once. */
function lastLines(files: string[], options: LogOptions): Buffer[] {
  const wanted = options.tailLines ?? 0;
  if (wanted === 0) return [];
  const found: Buffer[] = [];
  let complete = 0;
  for (let file = files.pop(); file !== undefined; file = files.pop()) {
    const lines = wholeFile(file).filter((line) => isWanted(line, options));
    for (const line of lines.reverse()) {
      if (parseLogLine(line)?.complete !== false) complete++;
      if (complete > wanted) return found.reverse();
      found.push(line);
    }
  }
  return found.reverse();
}

function wholeFile(file: string): Buffer[] {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(file);
  } catch {
    // Rotated away, or nothing was logged yet.
    return [];
  }
  return splitLines(bytes).lines;
}

function splitLines(bytes: Buffer): { lines: Buffer[]; rest: Buffer } {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { lines, rest: bytes.subarray(start) };
}

function positionAtEnd(file: string): { inode: number; offset: number } {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return { inode: stat?.ino ?? 0, offset: stat?.size ?? 0 };
}

async function* readFrom(
  file: string,
  position: { inode: number; offset: number },
  format: Formatter,
  cut: (text: Buffer) => Buffer,
): AsyncGenerator<Buffer, { inode: number; offset: number }> {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return position;
  // Another file under the name: it was rotated, and this one begins at its start.
  const rotated = position.inode !== 0 && stat.ino !== position.inode;
  if (rotated) yield* linesOf(`${file}.1`, position.offset, format, cut);
  const start = rotated ? 0 : position.offset;
  const end = yield* linesOf(file, start, format, cut);
  return { inode: stat.ino, offset: end };
}

async function* linesOf(
  file: string,
  start: number,
  format: Formatter,
  cut: (text: Buffer) => Buffer,
): AsyncGenerator<Buffer, number> {
  let offset = start;
  let handle: fs.promises.FileHandle;
  try {
    handle = await fs.promises.open(file, "r");
  } catch {
    // Rotated away meanwhile.
    return offset;
  }
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafe(chunkBytes),
        0,
        chunkBytes,
        offset + rest.length,
      );
      if (bytesRead === 0) return offset;
      const split = splitLines(Buffer.concat([rest, buffer.subarray(0, bytesRead)]));
      rest = split.rest;
      for (const line of split.lines) offset += line.length + 1;
      const text = cut(Buffer.concat(split.lines.map(format)));
      if (text.length > 0) yield text;
    }
  } finally {
    await handle.close();
  }
}

function nextChange(source: LogSource, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let stop: () => void = () => {};
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    stop = source.pump?.onAppend(done) ?? ((): void => {});
    source.onEnd(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
