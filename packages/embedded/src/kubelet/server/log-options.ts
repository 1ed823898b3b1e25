/** How much of a log is asked for. */
export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** Only lines that are not older, in milliseconds since the epoch. */
  readonly since?: number;
  readonly stream?: "stdout" | "stderr";
}

/** Reads the query of `/containerLogs/…`; the text of the problem when it makes no sense. */
export function parseLogOptions(query: URLSearchParams, now: number): LogOptions | string {
  const tailLines = wholeNumber(query, "tailLines");
  const limitBytes = wholeNumber(query, "limitBytes");
  const sinceSeconds = wholeNumber(query, "sinceSeconds");
  const bad = [tailLines, limitBytes, sinceSeconds].find((value) => typeof value === "string");
  if (typeof bad === "string") return bad;
  const sinceTime = query.get("sinceTime");
  const since = sinceTime === null ? sinceOf(sinceSeconds, now) : Date.parse(sinceTime);
  if (Number.isNaN(since)) return `sinceTime ${sinceTime} is not a time`;
  const stream = query.get("stream")?.toLowerCase();
  return {
    follow: flag(query, "follow"),
    previous: flag(query, "previous"),
    timestamps: flag(query, "timestamps"),
    ...(typeof tailLines === "number" ? { tailLines } : {}),
    ...(typeof limitBytes === "number" ? { limitBytes } : {}),
    ...(since === undefined ? {} : { since }),
    ...(stream === "stdout" || stream === "stderr" ? { stream } : {}),
  };
}

function sinceOf(seconds: number | string | undefined, now: number): number | undefined {
  return typeof seconds === "number" ? now - seconds * 1000 : undefined;
}

function flag(query: URLSearchParams, name: string): boolean {
  return ["1", "true", ""].includes(query.get(name) ?? "false");
}

function wholeNumber(query: URLSearchParams, name: string): number | string | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  return /^\d{1,15}$/.test(text) ? Number(text) : `${name} must be a number of zero or more, not ${text}`;
}
