import { compileValidatingPolicy, type ValidatingPolicy } from "@polyvirt/cel";

import type { Store } from "../../store/store.ts";
import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { readRules, type RequestMatch } from "./request-match.ts";

/** One webhook of a configuration, read once. */
export interface Webhook {
  readonly configuration: string;
  readonly name: string;
  readonly match: RequestMatch;
  /** Its match conditions, as a policy that decides nothing; undefined when it has none. */
  readonly conditions: ValidatingPolicy | undefined;
  readonly failOpen: boolean;
  readonly reinvoke: boolean;
  readonly timeoutMs: number;
  readonly client: WebhookClientConfig;
}

export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path: string;
    readonly port: number;
  };
  /** PEM. */
  readonly authority: string;
}

/** The configured webhooks of one kind in the order in which they are asked, kept up with the store. */
export class WebhookList {
  readonly #store: Store;
  readonly #prefix: string;
  #webhooks: readonly Webhook[] | undefined;

  constructor(store: Store, bucket: string) {
    this.#store = store;
    this.#prefix = `${bucket}/`;
    store.subscribe((events) => {
      if (events.some(({ key }) => key.startsWith(this.#prefix))) this.#webhooks = undefined;
    });
  }

  all(): readonly Webhook[] {
    // Keys are sorted by name, which is the order that Kubernetes promises.
    this.#webhooks ??= this.#store.range(this.#prefix).entries.flatMap(({ value }) => {
      const object = JSON.parse(value.toString()) as { metadata: { name: string }; webhooks?: unknown };
      return objectsIn(object.webhooks).map((webhook) => readWebhook(object.metadata.name, webhook));
    });
    return this.#webhooks;
  }
}

/** Compiles match conditions; what is wrong with them is in the result's problems. */
export function compileConditions(webhook: JsonObject): ValidatingPolicy | undefined {
  const matchConditions = objectsIn(webhook["matchConditions"]).map((item) => ({
    name: textOf(item["name"]),
    expression: textOf(item["expression"]),
  }));
  if (matchConditions.length === 0) return undefined;
  const failurePolicy = webhook["failurePolicy"] === "Ignore" ? "Ignore" : "Fail";
  return compileValidatingPolicy({ failurePolicy, matchConditions });
}

function readWebhook(configuration: string, webhook: JsonObject): Webhook {
  const service = valueAt(webhook, "clientConfig", "service");
  const url = valueAt(webhook, "clientConfig", "url");
  return {
    configuration,
    name: textOf(webhook["name"]),
    match: {
      rules: readRules(webhook["rules"]),
      equivalent: webhook["matchPolicy"] !== "Exact",
      namespaceSelector: webhook["namespaceSelector"] ?? {},
      objectSelector: webhook["objectSelector"] ?? {},
    },
    conditions: compileConditions(webhook),
    failOpen: webhook["failurePolicy"] === "Ignore",
    reinvoke: webhook["reinvocationPolicy"] === "IfNeeded",
    timeoutMs: Number(webhook["timeoutSeconds"] ?? 10) * 1000,
    client: {
      authority: Buffer.from(textOf(valueAt(webhook, "clientConfig", "caBundle")), "base64").toString(),
      ...(typeof url === "string" ? { url } : {}),
      ...(isJsonObject(service)
        ? {
            service: {
              namespace: textOf(service["namespace"]),
              name: textOf(service["name"]),
              path: textOf(service["path"]) || "/",
              port: Number(service["port"] ?? 443),
            },
          }
        : {}),
    },
  };
}
