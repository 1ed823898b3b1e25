import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import type { Connection } from "./targets/target.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The parsed body, or undefined; statements look into it freely. */
  // oxlint-disable-next-line typescript/no-explicit-any -- assertions reach into answers of every kind
  readonly json: any;
}

export interface RequestExtras {
  /** Sent as JSON unless it is text or bytes already. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Connections to reuse; a fresh one otherwise. */
  readonly agent?: Agent;
  /** No credentials of the administrator. */
  readonly anonymous?: boolean;
}

export function keepAliveAgent(connections: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: connections });
}

/** Options of a plain HTTPS request as the target's administrator. */
export function requestOptions(connection: Connection, method: string, extras: RequestExtras = {}): RequestOptions {
  const { certificateAuthority, certificate, key, token } = connection;
  const known = extras.anonymous !== true;
  return {
    method,
    ca: certificateAuthority,
    agent: extras.agent ?? false,
    ...(known && certificate !== undefined && key !== undefined ? { cert: certificate, key } : {}),
    headers: {
      Accept: "application/json",
      ...(extras.body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(known && token !== undefined ? { Authorization: `Bearer ${token}` } : {}),
      ...extras.headers,
    },
  };
}

export function requestOnce(
  connection: Connection,
  method: string,
  path: string,
  extras: RequestExtras = {},
): Promise<Answer> {
  const { body } = extras;
  const content = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const options = requestOptions(connection, method, extras);
    const request = httpsRequest(`${connection.url}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
      });
    });
    request.on("error", reject);
    // Node sends no length by itself when something is deleted.
    if (content !== undefined) request.setHeader("Content-Length", Buffer.byteLength(content));
    request.end(content);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
