import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

import { errors } from "../../errors.ts";

interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** Client certificates signed by these are believed. */
  readonly clientAuthority: string;
  handle(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function listen(options: ListenerOptions): Promise<Listener> {
  const server = createServer({
    cert: options.certificate,
    key: options.key,
    ca: options.clientAuthority,
    requestCert: true,
    // Clients without a certificate may show a token; a wrong certificate is refused by the authenticator.
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
    keepAliveTimeout: 90_000,
    headersTimeout: 30_000,
    // A watch or an exec session may last for hours.
    requestTimeout: 0,
  });
  const upgraded = new Set<Duplex>();
  server.on("request", (request, response) => options.handle(request, response));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket);
    socket.on("close", () => upgraded.delete(socket));
    socket.on("error", () => socket.destroy());
    options.upgrade(request, socket, head);
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  await bind(server, options);
  // An https server that listens on a host and port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    host: options.host,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of upgraded) socket.destroy();
        server.closeAllConnections();
      }),
  };
}

function bind(server: Server, { host, port }: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EADDRINUSE") return reject(cause);
      const message = `listen on ${host}:${port}: another program uses this port; stop it or choose another port`;
      return reject(errors.ApiServerPortTaken(message, { fields: { host, port }, cause }));
    });
    server.listen(port, host, resolve);
  });
}
