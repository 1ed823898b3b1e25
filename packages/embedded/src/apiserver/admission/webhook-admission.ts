import { randomUUID } from "node:crypto";

import { applyJsonPatch, checkPatch, describeError, type Logger } from "@polyvirt/core";

import { internalError, StatusError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { matchesSelector } from "../registry/label-selector.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import { userJson } from "../routes/reviews.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";
import type { WebhookClient } from "./webhook-client.ts";
import { ruleMatches, type Webhook, type WebhookList } from "./webhook-config.ts";

interface WebhookDeps {
  readonly mutating: WebhookList;
  readonly validating: WebhookList;
  readonly client: WebhookClient;
  readonly registry: ResourceRegistry;
  readonly objects: Objects;
  readonly namespaces: Resource;
  readonly logger: Logger;
}

/** A webhook could lock everyone out of removing it, so these kinds are never shown to one. */
const exempt = new Set([
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

/** Asks the configured webhooks: first the mutating ones in order, then all validating ones at once. */
export function webhookAdmission(deps: WebhookDeps): Admission {
  return {
    async mutate(request) {
      let object = request.object as ApiObject;
      const asked: { webhook: Webhook; resource: Resource; saw: ApiObject }[] = [];
      for (const { webhook, resource } of matching(deps, deps.mutating.all(), request)) {
        object = await askMutating(deps, webhook, resource, { ...request, object });
        asked.push({ webhook, resource, saw: object });
      }
      // Someone may have to look again at what others changed behind it; once, so that this ends.
      for (const { webhook, resource, saw } of asked) {
        if (!webhook.reinvoke || deepEqual(saw, object)) continue;
        object = await askMutating(deps, webhook, resource, { ...request, object });
      }
      return object;
    },
    async validate(request) {
      if (request.operation === "DELETE") {
        for (const { webhook, resource } of matching(deps, deps.mutating.all(), request))
          await ask(deps, webhook, resource, request);
      }
      const all = matching(deps, deps.validating.all(), request);
      const outcomes = await Promise.allSettled(
        all.map(({ webhook, resource }) => ask(deps, webhook, resource, request)),
      );
      const refused = outcomes.find((outcome) => outcome.status === "rejected");
      if (refused !== undefined) throw refused.reason;
    },
  };
}

interface Match {
  readonly webhook: Webhook;
  /** The version of the resource in which the webhook wants to see the object. */
  readonly resource: Resource;
}

function matching(deps: WebhookDeps, webhooks: readonly Webhook[], request: AdmissionRequest): Match[] {
  if (exempt.has(request.resource.bucket)) return [];
  return webhooks.flatMap((webhook) => {
    const resource = versionFor(deps, webhook, request);
    if (resource === undefined) return [];
    const labels = [request.object, request.old].flatMap((object) =>
      object === undefined ? [] : [object.metadata.labels ?? {}],
    );
    if (!labels.some((item) => matchesSelector(webhook.objectSelector, item))) return [];
    return namespaceMatches(deps, webhook, request) ? [{ webhook, resource }] : [];
  });
}

function versionFor(
  deps: WebhookDeps,
  webhook: Webhook,
  { resource, subresource, operation }: AdmissionRequest,
): Resource | undefined {
  const matches = (candidate: Resource): boolean =>
    webhook.rules.some((rule) => ruleMatches(rule, operation, { ...candidate, subresource }));
  if (matches(resource)) return resource;
  if (!webhook.equivalent) return undefined;
  return deps.registry.all().find((other) => other.bucket === resource.bucket && !other.virtual && matches(other));
}

function namespaceMatches(
  { objects, namespaces }: WebhookDeps,
  { namespaceSelector }: Webhook,
  request: AdmissionRequest,
): boolean {
  if (isJsonObject(namespaceSelector) && Object.keys(namespaceSelector).length === 0) return true;
  const isNamespace = request.resource.bucket === "namespaces";
  if (!request.resource.namespaced && !isNamespace) return true;
  const namespace = isNamespace ? (request.object ?? request.old) : objects.find(namespaces, "", request.namespace);
  return matchesSelector(namespaceSelector, namespace?.metadata.labels ?? {});
}

async function askMutating(
  deps: WebhookDeps,
  webhook: Webhook,
  resource: Resource,
  request: AdmissionRequest,
): Promise<ApiObject> {
  const object = request.object as ApiObject;
  const response = await ask(deps, webhook, resource, request);
  const patch = response?.["patch"];
  if (typeof patch !== "string" || patch === "") return object;
  try {
    if (response?.["patchType"] !== "JSONPatch")
      throw new Error(`unsupported patch type ${JSON.stringify(response?.["patchType"])}`);
    const operations = checkPatch(JSON.parse(Buffer.from(patch, "base64").toString()));
    const patched = applyJsonPatch<ApiObject>({ ...object, apiVersion: resource.apiVersion }, operations);
    return { ...patched, apiVersion: request.resource.apiVersion };
  } catch (error) {
    if (webhook.failOpen) {
      deps.logger.warn("the patch of a webhook was ignored", { webhook: webhook.name, error: describeError(error) });
      return object;
    }
    throw internalError(
      `failed calling webhook ${JSON.stringify(webhook.name)}: the patch it returned cannot be applied: ${describeError(error)}`,
    );
  }
}

/** The webhook's answer when it allows the request; undefined when it failed and may be ignored. Throws when it refuses. */
async function ask(
  deps: WebhookDeps,
  webhook: Webhook,
  resource: Resource,
  request: AdmissionRequest,
): Promise<JsonObject | undefined> {
  let response: JsonObject;
  try {
    response = await deps.client.call(webhook.client, reviewOf(resource, request), webhook.timeoutMs);
  } catch (error) {
    const message = `failed calling webhook ${JSON.stringify(webhook.name)}: ${describeError(error)}`;
    deps.logger.warn("a webhook failed", {
      webhook: webhook.name,
      configuration: webhook.configuration,
      ignored: webhook.failOpen,
      error: describeError(error),
    });
    if (webhook.failOpen) return undefined;
    throw internalError(message);
  }
  const warnings = response["warnings"];
  for (const warning of Array.isArray(warnings) ? warnings : []) request.context.warn(String(warning));
  if (response["allowed"] === true) return response;
  throw refusal(webhook.name, response);
}

function refusal(name: string, response: JsonObject): StatusError {
  const status = isJsonObject(response["status"]) ? response["status"] : {};
  const message = textOf(status["message"]) || textOf(status["reason"]);
  const why = message === "" ? " without explanation" : `: ${message}`;
  const given =
    typeof status["code"] === "number" && status["code"] >= 400 && status["code"] < 600 ? status["code"] : 403;
  const reason = textOf(status["reason"]) || (given === 403 ? "Forbidden" : given === 422 ? "Invalid" : "");
  const details = isJsonObject(status["details"]) ? status["details"] : undefined;
  return new StatusError(given, reason, `admission webhook ${JSON.stringify(name)} denied the request${why}`, details);
}

const optionKinds = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
  CONNECT: "ConnectOptions",
} as const;

function reviewOf(resource: Resource, request: AdmissionRequest): JsonObject {
  const { context, subresource, operation, namespace, name, object, old, options } = request;
  const kindOf = ({ group, version, kind }: Resource): JsonObject => ({ group, version, kind });
  const resourceOf = ({ group, version, plural }: Resource): JsonObject => ({ group, version, resource: plural });
  const seen = (value: ApiObject | undefined): unknown =>
    value === undefined ? null : { ...value, apiVersion: resource.apiVersion };
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid: randomUUID(),
      kind: kindOf(resource),
      resource: resourceOf(resource),
      ...(subresource === "" ? {} : { subResource: subresource }),
      requestKind: kindOf(request.resource),
      requestResource: resourceOf(request.resource),
      ...(subresource === "" ? {} : { requestSubResource: subresource }),
      name: operation === "CREATE" ? textOf(valueAt(object, "metadata", "name")) : name,
      ...(namespace === "" ? {} : { namespace }),
      operation,
      userInfo: userJson(context.user),
      object: seen(object),
      oldObject: seen(old),
      dryRun: context.dryRun,
      options: { kind: optionKinds[operation], apiVersion: "meta.k8s.io/v1", ...options },
    },
  };
}
