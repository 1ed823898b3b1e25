import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { PolyvirtError, type Clock, type Timer } from "@polyvirt/core";
import type { Credentials, KubeConnection } from "../config/connection.ts";
import { errors } from "../errors.ts";

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Until the answer's headers are there; 0 means no limit. */
  readonly timeoutMs?: number;
}

/** Sends one HTTP request with our identity. Knows TLS and sockets; nothing of Kubernetes' objects. */
export interface Transport {
  send(method: string, path: string, options?: SendOptions): Promise<IncomingMessage>;
  /** What a WebSocket client needs to reach the same server in the same way. */
  upgradeOptions(path: string): Promise<{ url: string; options: RequestOptions }>;
  close(): void;
}

interface TransportDeps {
  readonly connection: KubeConnection;
  readonly clock: Clock;
  readonly userAgent: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export function createTransport({ connection, clock, userAgent }: TransportDeps): Transport {
  const { base, socketPath, secure } = parseServer(connection.server);
  let agent: HttpAgent | HttpsAgent | undefined;
  let agentIdentity: string | undefined;

  /** One agent for one identity: a rotated client certificate needs fresh TLS sessions. */
  const agentFor = (credentials: Credentials): HttpAgent | HttpsAgent => {
    const identity = `${credentials.certificate ?? ""}${credentials.key ?? ""}`;
    if (agent !== undefined && identity === agentIdentity) return agent;
    agent?.destroy();
    agentIdentity = identity;
    agent = secure ? new HttpsAgent({ keepAlive: true, maxFreeSockets: 4 }) : new HttpAgent({ keepAlive: true });
    return agent;
  };

  const tlsOptions = (credentials: Credentials) =>
    secure
      ? {
          ...(connection.certificateAuthority === undefined ? {} : { ca: connection.certificateAuthority }),
          ...(connection.insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
          ...(connection.tlsServerName === undefined ? {} : { servername: connection.tlsServerName }),
          ...(credentials.certificate === undefined ? {} : { cert: credentials.certificate }),
          ...(credentials.key === undefined ? {} : { key: credentials.key }),
        }
      : {};

  const identityHeaders = (credentials: Credentials): Record<string, string> => ({
    "user-agent": userAgent,
    ...(credentials.token === undefined ? {} : { authorization: `Bearer ${credentials.token}` }),
  });

  const sendOnce = async (method: string, path: string, options: SendOptions): Promise<IncomingMessage> => {
    const credentials = await connection.credentials.get();
    const request = {
      method,
      path: `${base.pathname === "/" ? "" : base.pathname}${path}`,
      headers: { accept: "application/json", ...identityHeaders(credentials), ...options.headers },
      agent: agentFor(credentials),
      ...tlsOptions(credentials),
      ...(socketPath === undefined ? { host: hostOf(base), port: base.port } : { socketPath }),
    };
    const attempt = { secure, request, options, clock, server: connection.server };
    try {
      return await exchange(attempt);
    } catch (error) {
      // The server may close an idle connection in the moment in which we use it; reading again does no harm.
      if (method === "GET" && error instanceof StaleConnection) return await exchange(attempt);
      throw error;
    }
  };

  return {
    async send(method, path, options = {}) {
      const response = await sendOnce(method, path, options);
      if (response.statusCode !== 401) return response;
      // The token may have been rotated since we read it: ask the source again, once.
      connection.credentials.invalidate();
      const before = await connection.credentials.get();
      if (before.token === undefined) return response;
      response.resume();
      return sendOnce(method, path, options);
    },
    async upgradeOptions(path) {
      const credentials = await connection.credentials.get();
      const prefix = base.pathname === "/" ? "" : base.pathname;
      const url =
        socketPath === undefined
          ? `${secure ? "wss" : "ws"}://${base.host}${prefix}${path}`
          : `ws+unix://${socketPath}:${path}`;
      return { url, options: { headers: identityHeaders(credentials), ...tlsOptions(credentials) } };
    },
    close() {
      agent?.destroy();
      agent = undefined;
    },
  };
}

function parseServer(server: string): { base: URL; socketPath: string | undefined; secure: boolean } {
  if (server.startsWith("unix://")) {
    return { base: new URL("http://localhost/"), socketPath: server.slice("unix://".length), secure: false };
  }
  const base = URL.canParse(server) ? new URL(server) : undefined;
  if (base === undefined || (base.protocol !== "https:" && base.protocol !== "http:")) {
    throw errors.KubeConfigInvalid(
      `connect to API server "${server}": expected https://HOST:PORT, http://HOST:PORT or unix:///PATH`,
      { fields: { server } },
    );
  }
  base.pathname = base.pathname.replace(/\/+$/, "");
  return { base, socketPath: undefined, secure: base.protocol === "https:" };
}

/** URL keeps brackets around IPv6 addresses; sockets want none. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

interface Exchange {
  readonly secure: boolean;
  readonly request: RequestOptions;
  readonly options: SendOptions;
  readonly clock: Clock;
  readonly server: string;
}

function exchange({ secure, request, options, clock, server }: Exchange): Promise<IncomingMessage> {
  const operation = `${request.method} ${request.path} on ${server}`;
  return new Promise((resolve, reject) => {
    const { signal } = options;
    if (signal?.aborted === true) return reject(signal.reason);
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const outgoing = (secure ? httpsRequest : httpRequest)(request);
    let timer: Timer | undefined;
    const onAbort = () => outgoing.destroy(asError(signal?.reason));
    const settle = () => timer?.cancel();
    outgoing.once("response", (response) => {
      settle();
      response.once("close", () => signal?.removeEventListener("abort", onAbort));
      resolve(response);
    });
    outgoing.on("error", (cause) => {
      settle();
      signal?.removeEventListener("abort", onAbort);
      if (signal?.aborted === true) return reject(signal.reason);
      if (outgoing.reusedSocket && isReset(cause)) return reject(new StaleConnection(operation, cause));
      reject("code" in cause && cause.code === "KubeTimeout" ? cause : unreachable(operation, cause));
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    if (timeoutMs > 0) {
      timer = clock.setTimer(timeoutMs, () =>
        outgoing.destroy(errors.KubeTimeout(`${operation}: no answer within ${timeoutMs / 1000} s`)),
      );
    }
    // An explicit length keeps servers that refuse chunked bodies happy.
    if (options.body === undefined) outgoing.end();
    else {
      outgoing.setHeader("content-length", Buffer.byteLength(options.body));
      outgoing.end(options.body);
    }
  });
}

/** A kept connection was closed by the server before it answered anything. */
class StaleConnection extends PolyvirtError<"KubeUnavailable"> {
  constructor(operation: string, cause: Error) {
    super("KubeUnavailable", `${operation}: the API server closed the connection`, { cause, retry: true });
  }
}

function isReset(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function unreachable(operation: string, cause: Error): Error {
  return errors.KubeUnavailable(`${operation}: the API server cannot be reached or broke the connection`, { cause });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
