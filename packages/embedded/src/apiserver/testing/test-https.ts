import { createServer } from "node:https";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { createCertificateAuthority, issueCertificate } from "@polyvirt/kube";

export interface TestHttps {
  readonly port: number;
  /** PEM, and the same in base64 as objects carry it. */
  readonly authority: string;
  readonly caBundle: string;
  readonly server: Server;
  close(): Promise<void>;
}

/** An HTTPS server with a certificate for the given names, signed by its own authority. */
export async function startHttps(
  dnsNames: readonly string[],
  handle: (request: IncomingMessage, body: string, response: ServerResponse) => void,
  options: { clientAuthority?: string } = {},
): Promise<TestHttps> {
  const authority = createCertificateAuthority("test-ca");
  const { certificate, key } = issueCertificate(authority, {
    commonName: "test",
    usage: "server",
    days: 1,
    dnsNames,
    ipAddresses: ["127.0.0.1"],
  });
  const client = options.clientAuthority;
  const tls = client === undefined ? {} : { requestCert: true, rejectUnauthorized: true, ca: client };
  const server = createServer({ cert: certificate, key, ...tls }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => handle(request, Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    // A server that listens on a host and port has such an address.
    port: (server.address() as AddressInfo).port,
    authority: authority.certificate,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
