/**
 * A small API server for this package's tests: a real TLS server with client certificates and bearer tokens, and just
 * enough of Kubernetes' HTTP rules for lists, watches and writes. Tests script its failures.
 */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { KubeObject } from "@polyvirt/api/k8s";
import { createCertificateAuthority, issueCertificate } from "../x509/certificate.ts";

interface SeenRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Common name of the client's certificate. */
  readonly user: string | undefined;
}

/** Answers a request itself and returns true, or leaves it to the next. */
type Intercept = (request: SeenRequest, response: ServerResponse) => boolean;

export interface ApiDouble {
  readonly url: string;
  readonly certificateAuthority: string;
  readonly clientCertificate: { certificate: string; key: string };
  readonly requests: SeenRequest[];
  /** Open watch connections. */
  readonly watches: Set<ServerResponse>;
  intercept(handler: Intercept): void;
  /** Stores an object and tells the watchers. */
  put(object: KubeObject): KubeObject;
  remove(name: string): void;
  /** Forgets history: watches from versions seen so far get 410. */
  compact(): void;
  breakConnections(): void;
  close(): Promise<void>;
}

const authority = createCertificateAuthority("api-double");
const serverCertificate = issueCertificate(authority, {
  commonName: "api-double",
  dnsNames: ["localhost"],
  ipAddresses: ["127.0.0.1"],
  usage: "server",
  days: 1,
});
const clientCertificate = issueCertificate(authority, { commonName: "tester", usage: "client", days: 1 });

interface LoggedEvent {
  readonly version: number;
  readonly line: string;
}

export async function startApiDouble(): Promise<ApiDouble> {
  const objects = new Map<string, KubeObject>();
  const log: LoggedEvent[] = [];
  const watches = new Set<ServerResponse>();
  const sockets = new Set<Duplex>();
  const requests: SeenRequest[] = [];
  const intercepts: Intercept[] = [];
  let version = 0;
  let oldest = 0;

  const publish = (type: string, object: KubeObject) => {
    const line = `${JSON.stringify({ type, object })}\n`;
    log.push({ version, line });
    for (const watch of watches) watch.write(line);
  };

  const watch = (request: SeenRequest, response: ServerResponse) => {
    const from = Number(request.url.searchParams.get("resourceVersion") ?? version);
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    if (from < oldest) {
      const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410 };
      response.end(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
      return;
    }
    for (const event of log) if (event.version > from) response.write(event.line);
    watches.add(response);
    response.once("close", () => watches.delete(response));
  };

  const list = (request: SeenRequest, response: ServerResponse) => {
    const limit = Number(request.url.searchParams.get("limit") ?? "0");
    const start = Number(request.url.searchParams.get("continue") ?? "0");
    const all = [...objects.values()];
    const items = limit === 0 ? all : all.slice(start, start + limit);
    const end = start + items.length;
    const metadata = { resourceVersion: String(version), ...(end < all.length ? { continue: String(end) } : {}) };
    answer(response, 200, { kind: "List", apiVersion: "v1", metadata, items });
  };

  const serve = (request: SeenRequest, response: ServerResponse) => {
    if (intercepts.some((intercept) => intercept(request, response))) return;
    if (request.url.searchParams.get("watch") === "true") return watch(request, response);
    const name = /\/namespaces\/[^/]+\/[^/]+\/([^/]+)/.exec(request.url.pathname)?.[1];
    if (request.method === "GET" && name === undefined) return list(request, response);
    const object = name === undefined ? undefined : objects.get(name);
    if (request.method === "GET" && object !== undefined) return answer(response, 200, object);
    if (request.method === "POST") return answer(response, 201, JSON.parse(request.body));
    if (request.method === "PUT" || request.method === "PATCH") return answer(response, 200, JSON.parse(request.body));
    answer(response, 404, failure(404, "NotFound", `configmaps "${name}" not found`));
  };

  const server = createServer(
    {
      ca: authority.certificate,
      cert: serverCertificate.certificate,
      key: serverCertificate.key,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const seen: SeenRequest = {
          method: incoming.method ?? "",
          url: new URL(incoming.url ?? "", "https://double"),
          headers: incoming.headers,
          body: Buffer.concat(chunks).toString("utf8"),
          // An https server's sockets are TLS sockets.
          user: (incoming.socket as TLSSocket).getPeerCertificate().subject?.CN as string | undefined,
        };
        requests.push(seen);
        serve(seen, response);
      });
    },
  );
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;

  return {
    url: `https://127.0.0.1:${port}`,
    certificateAuthority: authority.certificate,
    clientCertificate,
    requests,
    watches,
    intercept: (handler) => intercepts.unshift(handler),
    put(object) {
      version++;
      const name = object.metadata.name ?? "";
      const known = objects.has(name);
      const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
      objects.set(name, stored);
      publish(known ? "MODIFIED" : "ADDED", stored);
      return stored;
    },
    remove(name) {
      const object = objects.get(name);
      if (object === undefined) return;
      version++;
      objects.delete(name);
      publish("DELETED", { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
    },
    compact() {
      log.length = 0;
      version++;
      oldest = version;
    },
    breakConnections() {
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

export function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function failure(code: number, reason: string, message: string, details: object = {}): object {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
}
