import type { Clock } from "./clock.ts";

type LogLevel = "debug" | "info" | "warn" | "error";
type LogFields = Readonly<Record<string, unknown>>;

/** Structured log: one JSON object a line. `with` adds fields to everything that the returned logger writes. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  with(fields: LogFields): Logger;
}

interface LoggerOptions {
  readonly level?: LogLevel;
  readonly clock: Pick<Clock, "now">;
  readonly write: (line: string) => void;
  readonly fields?: LogFields;
}

const severity: Readonly<Record<LogLevel, number>> = { debug: 10, info: 20, warn: 30, error: 40 };

export function createLogger(options: LoggerOptions): Logger {
  const threshold = severity[options.level ?? "info"];
  const emit = (level: LogLevel, message: string, fields: LogFields | undefined): void => {
    if (severity[level] < threshold) return;
    const time = new Date(options.clock.now()).toISOString();
    options.write(`${JSON.stringify({ time, level, message, ...options.fields, ...fields }, replaceError)}\n`);
  };
  return {
    debug: (message, fields) => emit("debug", message, fields),
    info: (message, fields) => emit("info", message, fields),
    warn: (message, fields) => emit("warn", message, fields),
    error: (message, fields) => emit("error", message, fields),
    with: (fields) => createLogger({ ...options, fields: { ...options.fields, ...fields } }),
  };
}

/** A logger that writes nothing, for tests and for callers that do not care. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLogger,
};

function replaceError(_key: string, value: unknown): unknown {
  if (value instanceof Error) {
    return Object.assign({ message: value.message, cause: value.cause }, value);
  }
  if (typeof value === "bigint") return value.toString();
  return value;
}
