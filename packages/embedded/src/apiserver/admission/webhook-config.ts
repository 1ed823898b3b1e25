import type { Store } from "../../store/store.ts";
import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import type { Operation } from "./admission.ts";

/** One webhook of a configuration, read once. */
export interface Webhook {
  readonly configuration: string;
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  readonly failOpen: boolean;
  readonly equivalent: boolean;
  readonly reinvoke: boolean;
  readonly timeoutMs: number;
  readonly namespaceSelector: unknown;
  readonly objectSelector: unknown;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
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

interface WebhookRule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
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

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function readWebhook(configuration: string, webhook: JsonObject): Webhook {
  const service = valueAt(webhook, "clientConfig", "service");
  const url = valueAt(webhook, "clientConfig", "url");
  return {
    configuration,
    name: textOf(webhook["name"]),
    rules: objectsIn(webhook["rules"]).map((rule) => ({
      operations: strings(rule["operations"]),
      groups: strings(rule["apiGroups"]),
      versions: strings(rule["apiVersions"]),
      resources: strings(rule["resources"]),
      scope: textOf(rule["scope"]) || "*",
    })),
    failOpen: webhook["failurePolicy"] === "Ignore",
    equivalent: webhook["matchPolicy"] !== "Exact",
    reinvoke: webhook["reinvocationPolicy"] === "IfNeeded",
    timeoutMs: Number(webhook["timeoutSeconds"] ?? 10) * 1000,
    namespaceSelector: webhook["namespaceSelector"] ?? {},
    objectSelector: webhook["objectSelector"] ?? {},
    matchConditions: objectsIn(webhook["matchConditions"]).map((item) => ({
      name: textOf(item["name"]),
      expression: textOf(item["expression"]),
    })),
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

interface Target {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespaced: boolean;
}

export function ruleMatches(rule: WebhookRule, operation: Operation, target: Target): boolean {
  const has = (list: readonly string[], value: string): boolean => list.includes("*") || list.includes(value);
  const scope = target.namespaced ? "Namespaced" : "Cluster";
  return (
    has(rule.operations, operation) &&
    has(rule.groups, target.group) &&
    has(rule.versions, target.version) &&
    (rule.scope === "*" || rule.scope === scope) &&
    rule.resources.some((pattern) => resourceMatches(pattern, target))
  );
}

/** `pods`, `pods/status`, `pods/*`, `*` (no subresources), `*` + `/status`, and everything. */
function resourceMatches(pattern: string, { plural, subresource }: Target): boolean {
  const [resource, sub = ""] = pattern.split("/", 2);
  if (resource !== "*" && resource !== plural) return false;
  return sub === "*" || sub === subresource;
}
