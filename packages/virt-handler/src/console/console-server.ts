import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { createConnection, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { handlerClientName, isRunning, streamSubprotocol, type VirtualMachineInstance } from "@polyvirt/api";
import type { Status } from "@polyvirt/api/k8s";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import { WebSocketServer, type WebSocket } from "ws";
import { errors } from "../errors.ts";
import type { LauncherDirectory } from "../launcher/launcher-directory.ts";
import { launcherOf, type Launchers } from "../launcher/launchers.ts";
import type { ServerCertificate } from "./certificate-files.ts";
import { findHandler } from "./guest-requests.ts";
import { guestStreams, type GuestStreamName } from "./guest-streams.ts";
import { Refusal, statusOf } from "./refusal.ts";
import { splice, type Splice } from "./splice.ts";

export interface ConsoleServerDeps {
  readonly host: string;
  readonly port: number;
  readonly nodeName: string;
  readonly readCertificate: () => Promise<ServerCertificate>;
  readonly findVmi: (key: string) => VirtualMachineInstance | undefined;
  readonly launchers: Pick<Launchers, "look">;
  readonly directory: LauncherDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ConsoleServer {
  readonly port: number;
  close(): Promise<void>;
}

const PATH = /^\/v1\/namespaces\/([^/]+)\/virtualmachineinstances\/([^/]+)\/([a-z/]+)$/;
const CERTIFICATE_CHECK_MS = 60_000;
const CONNECT_LIMIT_MS = 5_000;
const MAX_BODY_BYTES = 64 * 1024;

/** Consoles and commands for virt-api, which must show its client certificate. */
export async function startConsoleServer(deps: ConsoleServerDeps): Promise<ConsoleServer> {
  const certificate = await deps.readCertificate();
  const server = createServer({ ...certificate, requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.2" });
  const gateway = new Gateway(deps);
  server.on("request", (request, response) => void gateway.request(request, response));
  server.on("upgrade", (request, socket, head) => void gateway.upgrade(request, socket, head));
  await listen(server, deps);
  const stop = followCertificate(server, certificate, deps);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : deps.port,
    close: () => {
      stop.abort();
      gateway.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function listen(server: Server, { host, port }: ConsoleServerDeps): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(errors.HandlerListenFailed(`serve consoles on ${host}:${port}`, { cause, fields: { host, port } }));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

/** virt-operator rotates the certificate; new connections get the new one. */
function followCertificate(server: Server, first: ServerCertificate, deps: ConsoleServerDeps): AbortController {
  const stop = new AbortController();
  const follow = async (): Promise<void> => {
    let current = first;
    for (;;) {
      await deps.clock.sleep(CERTIFICATE_CHECK_MS, stop.signal);
      const next = await deps.readCertificate().catch(() => current);
      if (next.cert === current.cert && next.key === current.key && next.ca === current.ca) continue;
      server.setSecureContext({ ...next, minVersion: "TLSv1.2" });
      current = next;
    }
  };
  follow().catch((error: unknown) => {
    if (!stop.signal.aborted) deps.logger.error("the certificate is not followed any more", { error });
  });
  return stop;
}

interface Target {
  readonly key: string;
  readonly action: string;
  readonly query: URLSearchParams;
}

class Gateway {
  readonly #deps: ConsoleServerDeps;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 1024 * 1024,
    handleProtocols: (offered) => (offered.has(streamSubprotocol) ? streamSubprotocol : false),
  });
  /** The one session of each stream, by VMI and stream. */
  readonly #sessions = new Map<string, Splice>();

  constructor(deps: ConsoleServerDeps) {
    this.#deps = deps;
  }

  close(): void {
    for (const session of this.#sessions.values()) session.end("virt-handler stops");
    this.#sockets.close();
  }

  async request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { key, action, query } = this.#target(request);
      const handle = findHandler(request.method ?? "", action);
      if (handle === undefined) throw new Refusal(404, "NotFound", `${request.method} ${request.url} is not served`);
      const { vmi, record } = this.#running(key);
      const body = await readBody(request);
      const { commands: launcher } = await this.#deps.launchers.look(record);
      if (launcher === undefined) throw new Refusal(503, "ServiceUnavailable", "the launcher does not answer");
      const answer = await handle({ vmi, launcher, query, body, openScreen: () => this.#openStream(key, "vnc") });
      response.writeHead(200, answer === undefined ? {} : { "content-type": answer.type }).end(answer?.body);
    } catch (error) {
      request.resume();
      const status = statusOf(error);
      response.writeHead(status.code ?? 500, { "content-type": "application/json" }).end(JSON.stringify(status));
    }
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      const { key, action } = this.#target(request);
      if (!isGuestStream(action)) throw new Refusal(404, "NotFound", `${request.url} is not served`);
      const guest = await this.#openStream(key, action);
      this.#sockets.handleUpgrade(request, socket, head, (client) => this.#begin(key, action, client, guest));
    } catch (error) {
      refuseUpgrade(socket, statusOf(error));
    }
  }

  #begin(key: string, stream: GuestStreamName, client: WebSocket, guest: Socket): void {
    const name = `${key}/${stream}`;
    this.#sessions.get(name)?.end("another session has begun");
    const session = splice({
      client,
      guest,
      overflow: stream === "console" ? "drop" : "pause",
      logger: this.#deps.logger,
    });
    this.#sessions.set(name, session);
    this.#deps.logger.info("a console session has begun", { vmi: key, stream });
    void this.#forgetWhenClosed(name, session);
  }

  async #forgetWhenClosed(name: string, session: Splice): Promise<void> {
    await session.closed;
    if (this.#sessions.get(name) === session) this.#sessions.delete(name);
  }

  /** SAFETY: the authority signs certificates for several roles; only virt-api's may come here. */
  #target(request: IncomingMessage): Target {
    // Connections of an https server are TLS sockets, and clients without a valid certificate were refused by TLS.
    const peer = (request.socket as TLSSocket).getPeerCertificate();
    if (peer.subject?.CN !== handlerClientName) throw new Refusal(403, "Forbidden", "only virt-api may connect");
    const [path = "", search = ""] = (request.url ?? "").split("?");
    const [, namespace, name, action] = PATH.exec(path) ?? [];
    if (namespace === undefined || name === undefined || action === undefined) {
      throw new Refusal(404, "NotFound", `${request.url} is not served`);
    }
    return {
      key: `${decodeURIComponent(namespace)}/${decodeURIComponent(name)}`,
      action,
      query: new URLSearchParams(search),
    };
  }

  #running(key: string) {
    const vmi = this.#deps.findVmi(key);
    if (vmi === undefined) throw new Refusal(404, "NotFound", `VMI ${key} is not on node ${this.#deps.nodeName}`);
    const record = launcherOf(vmi, this.#deps.nodeName);
    if (!isRunning(vmi) || record === undefined) throw new Refusal(409, "Conflict", "VMI is not running");
    return { vmi, record };
  }

  async #openStream(key: string, stream: GuestStreamName): Promise<Socket> {
    const { record } = this.#running(key);
    const { socket, missing } = guestStreams[stream];
    try {
      const opened = this.#deps.directory.open(record.podUid, "private", `${record.uid}/${socket}`, "socket");
      try {
        return await connect(opened.path);
      } finally {
        opened.close();
      }
    } catch (error) {
      if (hasCode(error, "HostPathMissing")) throw new Refusal(400, "BadRequest", missing);
      throw error;
    }
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      throw new Refusal(413, "RequestEntityTooLarge", `the request is larger than ${MAX_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new Refusal(400, "BadRequest", "the body is not JSON");
  }
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path, timeout: CONNECT_LIMIT_MS });
    socket.once("error", reject);
    socket.once("timeout", () => socket.destroy(new Error(`no answer within ${CONNECT_LIMIT_MS} ms`)));
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function isGuestStream(name: string): name is GuestStreamName {
  return Object.hasOwn(guestStreams, name);
}

function refuseUpgrade(socket: Duplex, status: Status): void {
  const body = JSON.stringify(status);
  const head = [
    `HTTP/1.1 ${status.code} ${status.reason}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
