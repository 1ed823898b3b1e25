/** The WebSocket protocol of exec and attach: the first byte of each message says which stream it belongs to. */
export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Best first. v5 is v4 with a message that closes a stream. */
const supported = ["v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io"] as const;

export type ChannelProtocol = (typeof supported)[number];

/** The best protocol that the client offers. */
export function chooseProtocol(offered: readonly string[]): ChannelProtocol | undefined {
  return supported.find((protocol) => offered.includes(protocol));
}

export function frame(channel: number, data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([channel]), data]);
}

/** How a command ended, as a Kubernetes Status on the error channel. */
export function exitStatus(code: number | null, signal: string | null): object {
  if (code === 0) return { metadata: {}, status: "Success" };
  const exitCode = code ?? 137;
  const how = signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
  return {
    metadata: {},
    status: "Failure",
    reason: "NonZeroExitCode",
    message: `command terminated with non-zero exit code: ${how}`,
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

export function failureStatus(message: string): object {
  return { metadata: {}, status: "Failure", reason: "InternalError", message, code: 500 };
}

/** `{"Width":80,"Height":24}`; undefined for anything else. */
export function parseSize(data: Buffer): { columns: number; rows: number } | undefined {
  try {
    const value: unknown = JSON.parse(data.toString("utf8"));
    if (typeof value !== "object" || value === null || !("Width" in value) || !("Height" in value)) return undefined;
    const { Width: columns, Height: rows } = value;
    const fits = (size: unknown): size is number => Number.isInteger(size) && Number(size) >= 0 && Number(size) < 65536;
    return fits(columns) && fits(rows) ? { columns, rows } : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}
