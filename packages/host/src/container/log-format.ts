export type LogStream = "stdout" | "stderr";

export interface LogEntry {
  /** RFC 3339 with nanoseconds. */
  readonly time: string;
  readonly stream: LogStream;
  /** False when the line goes on in the next entry. */
  readonly complete: boolean;
  readonly text: Buffer;
}

const newline = 0x0a;

/** `TIME STREAM F|P TEXT`, one entry a line; F ends a line of the container, P is a piece of one. */
export function formatLogLines(bytes: Buffer, stream: LogStream, now: number, maxBytes: number): Buffer {
  const time = new Date(now).toISOString().replace("Z", "000000Z");
  const parts: Buffer[] = [];
  const emit = (start: number, end: number, complete: boolean): void => {
    parts.push(
      Buffer.from(`${time} ${stream} ${complete ? "F" : "P"} `),
      bytes.subarray(start, end),
      Buffer.from("\n"),
    );
  };
  let start = 0;
  while (start < bytes.length) {
    const found = bytes.indexOf(newline, start);
    const end = found < 0 ? bytes.length : found;
    if (end - start > maxBytes) {
      emit(start, start + maxBytes, false);
      start += maxBytes;
      continue;
    }
    emit(start, end, found >= 0);
    start = end + 1;
  }
  return Buffer.concat(parts);
}

/** One line of a log, without its newline; undefined for what is not in the format. */
export function parseLogLine(line: Buffer): LogEntry | undefined {
  const afterTime = line.indexOf(0x20);
  const afterStream = line.indexOf(0x20, afterTime + 1);
  const afterTag = line.indexOf(0x20, afterStream + 1);
  if (afterTime < 0 || afterStream < 0 || afterTag < 0) return undefined;
  const stream = line.subarray(afterTime + 1, afterStream).toString();
  if (stream !== "stdout" && stream !== "stderr") return undefined;
  const tag = line.subarray(afterStream + 1, afterTag).toString();
  return {
    time: line.subarray(0, afterTime).toString(),
    stream,
    complete: tag === "F",
    text: line.subarray(afterTag + 1),
  };
}
