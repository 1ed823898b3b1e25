import * as https from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { Readable, type Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Container } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import { WebSocketServer } from "ws";
import { errors } from "../../errors.ts";
import type { NodePaths } from "../node-paths.ts";
import { containersOf } from "../pod-observation.ts";
import type { PodRecord } from "../pod-record.ts";
import { serveAttach } from "./attach-session.ts";
import { chooseProtocol, failureStatus } from "./channel-protocol.ts";
import { parseExecRequest, serveExec, type StreamRequest } from "./exec-session.ts";
import { parseLogOptions } from "./log-options.ts";
import { readLog } from "./log-reader.ts";
import { servePortForward } from "./port-forward.ts";
import type { RemoteStreams } from "./remote-streams.ts";
import { acceptSpdyStreams, spdyStreamProtocol } from "./spdy-streams.ts";
import { webSocketStreams } from "./websocket-streams.ts";

interface ServingCertificate {
  readonly certificate: string;
  readonly key: string;
  /** PEM of the authority that signed the certificates of allowed clients. */
  readonly clientAuthority: string;
}

interface KubeletServerOptions {
  readonly address: string;
  readonly port: number;
  readonly serving: ServingCertificate;
  readonly paths: NodePaths;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly findPod: (namespace: string, name: string) => PodRecord | undefined;
}

/** Only the API server asks a kubelet; who may ask for what was decided there. */
const allowedClients = new Set(["kube-apiserver-kubelet-client"]);

const routes = {
  logs: /^\/containerLogs\/([^/]+)\/([^/]+)\/([^/]+)$/,
  streams: /^\/(exec|attach)\/([^/]+)\/([^/]+)\/([^/]+)$/,
  portForward: /^\/portForward\/([^/]+)\/([^/]+)$/,
} as const;

/** An answer other than success. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The node's HTTPS endpoint: logs, exec, attach and port-forward, with the paths of Kubernetes' kubelet. */
export class KubeletServer {
  readonly #options: KubeletServerOptions;
  readonly #server: https.Server;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => chooseProtocol([...offered]) ?? false,
    perMessageDeflate: false,
  });

  constructor(options: KubeletServerOptions) {
    this.#options = options;
    const { certificate, key, clientAuthority } = options.serving;
    this.#server = https.createServer({
      cert: certificate,
      key,
      ca: clientAuthority,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
    });
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  async listen(): Promise<void> {
    const { address, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause) => {
        reject(errors.KubeletPortTaken(`listen on ${address}:${port} for the kubelet`, { cause }));
      });
      this.#server.listen(port, address, resolve);
    });
  }

  async close(): Promise<void> {
    this.#webSockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = this.#authorize(request);
      if (url.pathname === "/healthz") return void response.end("ok");
      const logs = routes.logs.exec(url.pathname);
      if (logs === null) throw new Refusal(404, `there is nothing at ${url.pathname}`);
      await this.#sendLog(this.#container(logs), url.searchParams, response);
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      response.statusCode = error instanceof Refusal ? error.status : 500;
      response.end(describeError(error));
    }
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => {});
    try {
      const url = this.#authorize(request);
      const forward = routes.portForward.exec(url.pathname);
      if (forward !== null) {
        const record = this.#pod(forward);
        return servePortForward({ request, socket, head, pod: record, query: url.searchParams });
      }
      const streams = routes.streams.exec(url.pathname);
      if (streams === null) throw new Refusal(404, `there is nothing at ${url.pathname}`);
      const [, kind, ...place] = streams;
      this.#streams(
        kind === "attach" ? "attach" : "exec",
        { request, socket, head },
        this.#container([undefined, ...place]),
        url.searchParams,
      );
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500;
      const text = describeError(error);
      socket.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
      );
    }
  }

  #authorize(request: IncomingMessage): URL {
    // Requests of an HTTPS server come over TLS sockets.
    const subject = (request.socket as TLSSocket).getPeerCertificate().subject;
    const name = Array.isArray(subject?.CN) ? subject.CN[0] : subject?.CN;
    if (!allowedClients.has(name ?? "")) throw new Refusal(403, `${name ?? "nobody"} may not ask a kubelet`);
    return new URL(request.url ?? "/", "https://kubelet");
  }

  #pod([, namespace = "", name = ""]: readonly (string | undefined)[]): PodRecord {
    const record = this.#options.findPod(decodeURIComponent(namespace), decodeURIComponent(name));
    if (record === undefined) throw new Refusal(404, `pod ${name} is not on this node`);
    return record;
  }

  #container(match: readonly (string | undefined)[]): { record: PodRecord; container: Container } {
    const record = this.#pod(match);
    const found = containersOf(record.pod).find(({ container }) => container.name === match[3]);
    if (found === undefined) throw new Refusal(404, `pod ${record.pod.metadata.name} has no container ${match[3]}`);
    return { record, container: found.container };
  }

  async #sendLog(
    { record, container }: { record: PodRecord; container: Container },
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    const options = parseLogOptions(query, this.#options.clock.now());
    if (typeof options === "string") throw new Refusal(400, options);
    const known = record.containers.get(container.name);
    const attempt = (known?.attempt ?? -1) - (options.previous ? 1 : 0);
    const what = `container "${container.name}" in pod "${record.pod.metadata.name}"`;
    if (known === undefined || attempt < 0) {
      const why = known?.waiting?.reason ?? "ContainerCreating";
      throw new Refusal(
        400,
        options.previous ? `previous terminated ${what} not found` : `${what} is waiting to start: ${why}`,
      );
    }
    if (!options.previous) known.pump?.drain();
    const aborted = new AbortController();
    response.once("close", () => aborted.abort());
    response.setHeader("content-type", "text/plain");
    response.flushHeaders();
    const { process } = known;
    const lines = readLog(
      {
        file: this.#options.paths.log(record.uid, container.name, attempt),
        ...(known.pump === undefined || options.previous ? {} : { pump: known.pump }),
        isRunning: () => !options.previous && process !== undefined && process.state().phase !== "exited",
        onEnd: (listener) => process?.onChange(listener),
      },
      options,
      aborted.signal,
    );
    await pipeline(Readable.from(lines), response);
  }

  #streams(
    kind: "exec" | "attach",
    { request, socket, head }: UpgradeRequest,
    { record, container }: { record: PodRecord; container: Container },
    query: URLSearchParams,
  ): void {
    const process = record.containers.get(container.name)?.process;
    const state = process?.state();
    if (process === undefined || state?.phase !== "running")
      throw new Refusal(400, `container ${container.name} does not run`);
    const wanted = parseExecRequest(query);
    if (kind === "exec" && wanted.command.length === 0) throw new Refusal(400, "say which command to execute");
    const serve = (streams: RemoteStreams): void => {
      if (kind === "attach") serveAttach(streams, container, process, wanted);
      else serveExec(streams, { record, container, directory: process.directory, init: state.init }, wanted);
    };
    if ((request.headers.upgrade ?? "").toLowerCase() === "spdy/3.1") {
      const offered = offeredProtocols(request.headers["x-stream-protocol-version"]);
      if (!offered.includes(spdyStreamProtocol)) {
        throw new Refusal(403, `over SPDY only ${spdyStreamProtocol} is spoken, not ${offered.join() || "nothing"}`);
      }
      return void this.#acceptSpdy({ request, socket, head }, wanted, serve);
    }
    const protocol = chooseProtocol(offeredProtocols(request.headers["sec-websocket-protocol"]));
    if (protocol === undefined) {
      throw new Refusal(400, `${kind} speaks v5.channel.k8s.io and v4.channel.k8s.io over WebSocket, and SPDY/3.1`);
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => serve(webSocketStreams(webSocket, protocol)));
  }

  async #acceptSpdy(
    { socket, head }: UpgradeRequest,
    wanted: StreamRequest,
    serve: (streams: RemoteStreams) => void,
  ): Promise<void> {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: ${spdyStreamProtocol}\r\n\r\n`,
    );
    if (head.length > 0) socket.unshift(head);
    const types = (["stdin", "stdout", "stderr"] as const).filter((type) => wanted[type]);
    const streams = await acceptSpdyStreams(socket, ["error", ...types, ...(wanted.tty ? ["resize"] : [])]);
    try {
      if (streams !== undefined) serve(streams);
    } catch (error) {
      streams?.finish(failureStatus(describeError(error)));
    }
  }
}

interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function offeredProtocols(header: string | string[] | undefined): string[] {
  return String(header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
