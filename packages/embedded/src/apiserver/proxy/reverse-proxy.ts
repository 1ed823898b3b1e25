import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";

import type { KeyedCertificate } from "@polyvirt/kube";

import { refuseUpgrade } from "../http/upgrade-router.ts";
import { StatusError, unavailable } from "../http/status-error.ts";

/** Where a request goes on to, and as whom this server knocks there. */
export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
  /** Name that the certificate must carry. */
  readonly serverName?: string;
  /** PEM of who may have signed the target's certificate; undefined: it is not checked. */
  readonly authority: string | undefined;
  readonly client: KeyedCertificate;
  readonly headers: OutgoingHttpHeaders;
  /** For messages: what could not be reached. */
  readonly what: string;
}

/** Headers that belong to one connection, or that only this server may set. */
const notForwarded =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|authorization|x-remote-.*)$/i;

function forwarded(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !notForwarded.test(name)));
}

function optionsFor(
  request: IncomingMessage,
  target: ProxyTarget,
): Omit<RequestOptions, "headers"> & { readonly headers: OutgoingHttpHeaders } {
  return {
    host: target.host,
    port: target.port,
    method: request.method,
    path: target.path,
    cert: target.client.certificate,
    key: target.client.key,
    ...(target.authority === undefined ? { rejectUnauthorized: false } : { ca: target.authority }),
    ...(target.serverName === undefined ? {} : { servername: target.serverName }),
    headers: { ...forwarded(request.headers), ...target.headers },
  };
}

/** Passes a request on and its answer back, both as streams. */
export function proxyRequest(request: IncomingMessage, response: ServerResponse, target: ProxyTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({ ...optionsFor(request, target), agent: false });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, forwarded(answer.headers));
      response.flushHeaders();
      answer.on("error", () => response.destroy());
      answer.pipe(response);
      answer.on("end", resolve);
      answer.on("close", resolve);
    });
    outgoing.on("error", (error) => {
      if (response.headersSent) {
        response.destroy();
        return resolve();
      }
      return reject(unavailable(`error trying to reach ${target.what}: ${error.message}`));
    });
    response.on("close", () => outgoing.destroy());
    request.pipe(outgoing);
  });
}

/** Passes a connection on that becomes another protocol; afterwards both ends just exchange bytes. */
export function proxyUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, target: ProxyTarget): void {
  const base = optionsFor(request, target);
  const headers = { ...base.headers, Connection: "Upgrade", Upgrade: request.headers.upgrade };
  const outgoing = httpsRequest({ ...base, headers, agent: false });
  outgoing.on("upgrade", (answer, remote, remoteHead) => {
    socket.write(headOf(answer));
    if (remoteHead.length > 0) socket.write(remoteHead);
    if (head.length > 0) remote.write(head);
    join(socket, remote);
  });
  outgoing.on("response", (answer) => {
    // The target refused to change the protocol; its answer is the answer.
    socket.write(headOf(answer));
    answer.pipe(socket);
  });
  outgoing.on("error", (error) => {
    refuseUpgrade(
      socket,
      new StatusError(503, "ServiceUnavailable", `error trying to reach ${target.what}: ${error.message}`),
    );
  });
  socket.on("close", () => outgoing.destroy());
  outgoing.end();
}

function headOf(answer: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage ?? ""}`];
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    lines.push(`${answer.rawHeaders[index]}: ${answer.rawHeaders[index + 1]}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function join(left: Duplex, right: Duplex): void {
  left.pipe(right);
  right.pipe(left);
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}
