import type { WebSocket } from "ws";
import { errorOfStatus, errors } from "../errors.ts";
import { statusFrom } from "./answer.ts";
import type { Transport } from "./transport.ts";

export interface ConnectOptions {
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_HANDSHAKE_MS = 30_000;
const MAX_REFUSAL_CHUNKS = 16;

/** Opens a WebSocket on the API server; resolves when it is open, throws the server's own refusal otherwise. */
export async function openWebSocket(transport: Transport, path: string, options: ConnectOptions): Promise<WebSocket> {
  // Loaded on first use: most processes never open one.
  const { WebSocket: Implementation } = await import("ws");
  const { url, options: request } = await transport.upgradeOptions(path);
  const socket = new Implementation(url, [...(options.protocols ?? [])], {
    ...(request as object),
    headers: { ...(request.headers as Record<string, string>), ...options.headers },
    handshakeTimeout: options.timeoutMs ?? DEFAULT_HANDSHAKE_MS,
    perMessageDeflate: false,
  });
  const operation = `connect ${path}`;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      socket.terminate();
      reject(options.signal?.reason);
    };
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const done = () => options.signal?.removeEventListener("abort", onAbort);
    socket.once("open", () => {
      done();
      // The server may speak at once; nothing is read until the caller, who waits for our promise, can listen.
      socket.pause();
      setImmediate(() => socket.resume());
      resolve(socket);
    });
    socket.once("unexpected-response", (_request, response) => {
      done();
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => {
        if (chunks.length < MAX_REFUSAL_CHUNKS) chunks.push(chunk);
      });
      response.once("close", () => {
        const code = response.statusCode ?? 0;
        reject(errorOfStatus(operation, code, statusFrom(Buffer.concat(chunks), code)));
        socket.terminate();
      });
    });
    socket.on("error", (cause) => {
      done();
      reject(errors.KubeUpgradeRefused(`${operation}: the WebSocket could not be opened`, { cause }));
    });
  });
}
