import { Agent, request as httpsRequest } from "node:https";

import { hasCode } from "@polyvirt/core";

import { isJsonObject, type JsonObject } from "../json.ts";
import { ServiceUnreachable, type ServiceResolver } from "../proxy/service-resolver.ts";
import type { WebhookClientConfig } from "./webhook-config.ts";

/** Calls webhooks over TLS; connections stay open between calls. */
export interface WebhookClient {
  /** Resolves with the `response` of the AdmissionReview; rejects with a plain Error that says what went wrong. */
  call(config: WebhookClientConfig, review: JsonObject, timeoutMs: number): Promise<JsonObject>;
  close(): void;
}

/** More cannot be a sensible answer; a webhook that lies about its length must not fill our memory. */
const maxAnswer = 8 * 1024 * 1024;
const maxAgents = 64;

export function createWebhookClient(resolver: ServiceResolver): WebhookClient {
  const agents = new Map<string, Agent>();
  const agentFor = (authority: string, serverName: string): Agent => {
    const key = `${serverName}\n${authority}`;
    const known = agents.get(key);
    if (known !== undefined) return known;
    const agent = new Agent({
      keepAlive: true,
      maxFreeSockets: 4,
      ca: authority === "" ? undefined : authority,
      servername: serverName,
    });
    agents.set(key, agent);
    const oldest = agents.size > maxAgents ? agents.keys().next().value : undefined;
    if (oldest !== undefined) {
      agents.get(oldest)?.destroy();
      agents.delete(oldest);
    }
    return agent;
  };
  return {
    async call(config, review, timeoutMs) {
      const place = placeOf(config, resolver, timeoutMs);
      const text = await post(place, agentFor(config.authority, place.serverName), JSON.stringify(review), timeoutMs);
      return readAnswer(text, review);
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly serverName: string;
  /** How messages name it. */
  readonly url: string;
}

function placeOf({ url, service }: WebhookClientConfig, resolver: ServiceResolver, timeoutMs: number): Place {
  const timeout = `timeout=${Math.round(timeoutMs / 1000)}s`;
  if (service !== undefined) {
    const serverName = `${service.name}.${service.namespace}.svc`;
    const path = `${service.path}${service.path.includes("?") ? "&" : "?"}${timeout}`;
    const shown = `https://${serverName}:${service.port}${path}`;
    try {
      return { ...resolver.resolve(service.namespace, service.name, service.port), path, serverName, url: shown };
    } catch (error) {
      if (error instanceof ServiceUnreachable)
        throw new Error(`Post ${JSON.stringify(shown)}: ${error.message}`, { cause: error });
      throw error;
    }
  }
  const parsed = new URL(url ?? "");
  const query = parsed.search === "" ? `?${timeout}` : `${parsed.search}&${timeout}`;
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ""),
    port: parsed.port === "" ? 443 : Number(parsed.port),
    path: `${parsed.pathname}${query}`,
    serverName: parsed.hostname,
    url: `${parsed.origin}${parsed.pathname}${query}`,
  };
}

/** A connection of an earlier call had ended, and it was noticed only when it was used. */
class StaleConnection extends Error {}

/** Webhooks have no effects, so that a question nobody heard can be asked again; each try uses up one old connection. */
async function post(place: Place, agent: Agent, body: string, timeoutMs: number): Promise<string> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await postOnce(place, agent, body, Math.max(1, deadline - performance.now()));
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
    }
  }
}

function postOnce(place: Place, agent: Agent, body: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) =>
      reject(new Error(`failed to call webhook: Post ${JSON.stringify(place.url)}: ${why}`, { cause }));
    const request = httpsRequest({
      host: place.host,
      port: place.port,
      path: place.path,
      method: "POST",
      agent,
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        "Content-Length": Buffer.byteLength(body),
      },
    });
    // One limit for everything: connecting, answering, and a body that trickles in.
    const timer = setTimeout(() => request.destroy(new Error("context deadline exceeded")), timeoutMs);
    let answered = false;
    request.on("error", (error) => {
      clearTimeout(timer);
      if (!answered && request.reusedSocket && isConnectionLost(error)) reject(new StaleConnection());
      else fail(error.message);
    });
    request.on("response", (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxAnswer) request.destroy(new Error(`the answer is larger than ${maxAnswer} bytes`));
        else chunks.push(chunk);
      });
      response.on("error", (error) => fail(error.message));
      response.on("end", () => {
        clearTimeout(timer);
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(text);
        else fail(`the server answered ${response.statusCode}: ${text.slice(0, 200)}`);
      });
    });
    request.end(body);
  });
}

function isConnectionLost(error: Error): boolean {
  return hasCode(error, "ECONNRESET") || hasCode(error, "EPIPE");
}

function readAnswer(text: string, review: JsonObject): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`received invalid webhook response: it is not JSON`, { cause });
  }
  if (!isJsonObject(value)) throw new Error("received invalid webhook response: it is not an object");
  const { apiVersion, kind, response } = value;
  if (apiVersion !== "admission.k8s.io/v1" || kind !== "AdmissionReview") {
    throw new Error(
      `received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${String(apiVersion)}, Kind=${String(kind)}`,
    );
  }
  if (!isJsonObject(response)) throw new Error("received invalid webhook response: webhook response is empty");
  const expected = isJsonObject(review["request"]) ? review["request"]["uid"] : undefined;
  if (response["uid"] !== expected) {
    throw new Error(
      `received invalid webhook response: expected response.uid=${JSON.stringify(expected)}, got ${JSON.stringify(response["uid"])}`,
    );
  }
  return response;
}
