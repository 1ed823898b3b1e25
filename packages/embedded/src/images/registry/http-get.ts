import * as http from "node:http";
import * as https from "node:https";
import type { RegistryEndpoint } from "./registries.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Has to be read or destroyed. */
  readonly body: http.IncomingMessage;
}

interface GetOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly endpoint: Pick<RegistryEndpoint, "ca" | "insecure">;
}

/** Nothing waits longer than this for the next byte. */
const idleLimitMs = 30_000;
const maxRedirects = 5;

/** A GET that follows redirects. Who we are is told only to the host that was asked, never to where it sends us. */
export async function httpGet(url: URL, options: GetOptions): Promise<HttpAnswer> {
  let current = url;
  for (let hops = 0; ; hops += 1) {
    const sameHost = current.host === url.host;
    const { authorization: _, ...anonymous } = options.headers;
    const answer = await send(current, { ...options, headers: sameHost ? options.headers : anonymous });
    const target = answer.headers.location;
    if (answer.status < 300 || answer.status >= 400 || target === undefined) return answer;
    answer.body.destroy();
    if (hops === maxRedirects) throw new Error(`${url.host} redirects more than ${maxRedirects} times`);
    const next = new URL(target, current);
    if (current.protocol === "https:" && next.protocol !== "https:" && !options.endpoint.insecure) {
      throw new Error(`${current.host} redirects to ${next.host} without TLS`);
    }
    current = next;
  }
}

function send(url: URL, { headers, endpoint }: GetOptions): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const onAnswer = (body: http.IncomingMessage): void =>
      resolve({ status: body.statusCode ?? 0, headers: body.headers, body });
    const request =
      url.protocol === "http:"
        ? http.get(url, { headers }, onAnswer)
        : https.get(url, tlsOptions(headers, endpoint), onAnswer);
    request.setTimeout(idleLimitMs, () => request.destroy(new Error(`${url.host} does not answer`)));
    request.on("error", reject);
  });
}

function tlsOptions(headers: Readonly<Record<string, string>>, { ca, insecure }: GetOptions["endpoint"]) {
  return { headers, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
}

/** Reads an answer that must be small. */
export async function readBody(body: http.IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // A stream without an encoding gives Buffers.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new Error(`the answer has more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
