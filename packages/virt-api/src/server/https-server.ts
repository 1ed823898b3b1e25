import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { describeError, type Logger } from "@polyvirt/core";
import { errors } from "../errors.ts";
import { sendJson } from "./request.ts";
import { failure, Refusal } from "./status.ts";

export interface ServerIdentity {
  readonly certificate: string;
  readonly key: string;
  /** Authorities whose client certificates count; none means that no caller is recognised. */
  readonly clientAuthorities: string | undefined;
}

interface RequestHandlers {
  readonly request: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
}

interface HttpsServerOptions {
  readonly address: string;
  readonly port: number;
  readonly identity: ServerIdentity;
  readonly handlers: RequestHandlers;
  readonly logger: Logger;
}

export interface HttpsServer {
  readonly port: number;
  setIdentity(identity: ServerIdentity): void;
  close(): Promise<void>;
}

/**
 * Callers may come without a certificate (webhooks are called that way); handlers decide what an unknown caller may do.
 * Whatever a handler throws becomes a Status, so that clients always get an answer that they understand.
 */
export async function startHttpsServer(options: HttpsServerOptions): Promise<HttpsServer> {
  const { handlers, logger } = options;
  const server = createServer({ ...tlsOptions(options.identity), requestCert: true, rejectUnauthorized: false });
  const sockets = new Set<Duplex>();
  server.on("connection", (socket: Duplex) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (request, response) => {
    handlers.request(request, response).catch((error: unknown) => {
      const status = statusOf(error, request, logger);
      if (response.headersSent) response.destroy();
      else sendJson(response, status.code, status);
    });
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    handlers
      .upgrade(request, socket, head)
      .catch((error: unknown) => refuseUpgrade(socket, statusOf(error, request, logger)));
  });
  await listen(server, options.address, options.port);
  return {
    // A listening TCP server has an address object.
    port: (server.address() as AddressInfo).port,
    setIdentity: (identity) => server.setSecureContext(tlsOptions(identity)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function tlsOptions({ certificate, key, clientAuthorities }: ServerIdentity) {
  // An empty list, not an absent one: without it every authority of the system would count.
  return { cert: certificate, key, ca: clientAuthorities ?? [], minVersion: "TLSv1.2" as const };
}

function statusOf(error: unknown, request: IncomingMessage, logger: Logger) {
  if (error instanceof Refusal) return error.status;
  logger.error("serving a request failed", { method: request.method, url: request.url, error: describeError(error) });
  return failure(500, `Internal error occurred: ${describeError(error)}`);
}

function refuseUpgrade(socket: Duplex, status: { code: number }): void {
  if (!socket.writable) return;
  const body = JSON.stringify(status);
  socket.end(
    [
      `HTTP/1.1 ${status.code} Refused`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

function listen(server: Server, address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(errors.VirtApiListenFailed(`listen on ${address}:${port}`, { cause, fields: { address, port } })),
    );
    server.listen(port, address, resolve);
  });
}
