import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { Refusal } from "./status.ts";

/** Larger than any object that the API server accepts, twice, and the review around them. */
const maxBodyBytes = 8 * 1024 * 1024;

export async function readJson(request: IncomingMessage): Promise<unknown> {
  return parse(await readBody(request));
}

/** As `readJson`; `undefined` when there is no body. */
export async function readOptionalJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request);
  return body.length === 0 ? undefined : parse(body);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Refusal(413, `the request is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new Refusal(400, "the body is not JSON");
  }
}

export function sendJson(response: ServerResponse, code: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(code, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

/** Who is on the other end of the TLS connection, when its certificate was signed by an authority that we trust. */
export function verifiedCommonName(request: IncomingMessage): string | undefined {
  // Only our HTTPS server makes these requests, and its sockets are TLS sockets.
  const socket = request.socket as TLSSocket;
  if (!socket.authorized) return undefined;
  const name: unknown = socket.getPeerCertificate().subject?.CN;
  return typeof name === "string" ? name : undefined;
}
