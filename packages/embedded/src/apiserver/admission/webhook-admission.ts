import { applyJsonPatch, checkPatch, describeError, type Logger } from "@polyvirt/core";

import type { Authorizer } from "../auth/rbac.ts";
import { internalError, StatusError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, textOf, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "../registry/resource.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";
import { admissionRequestJson, objectIn } from "./admission-review.ts";
import { policyInput } from "./policy-input.ts";
import { matchedResource, type MatchDeps } from "./request-match.ts";
import type { WebhookClient } from "./webhook-client.ts";
import type { Webhook, WebhookList } from "./webhook-config.ts";

interface WebhookDeps extends MatchDeps {
  readonly mutating: WebhookList;
  readonly validating: WebhookList;
  readonly client: WebhookClient;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
}

/** Asks the configured webhooks: first the mutating ones in order, then all validating ones at once. */
export function webhookAdmission(deps: WebhookDeps): Admission {
  return {
    async mutate(request) {
      let object = request.object as ApiObject;
      const asked: { webhook: Webhook; resource: Resource; saw: ApiObject }[] = [];
      for (const webhook of deps.mutating.all()) {
        const current = { ...request, object };
        const resource = wantedIn(deps, webhook, current);
        if (resource === undefined) continue;
        object = await askMutating(deps, webhook, resource, current);
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
      const wanting = (webhooks: readonly Webhook[]) =>
        webhooks.flatMap((webhook) => {
          const resource = wantedIn(deps, webhook, request);
          return resource === undefined ? [] : [{ webhook, resource }];
        });
      if (request.operation === "DELETE") {
        for (const { webhook, resource } of wanting(deps.mutating.all())) await ask(deps, webhook, resource, request);
      }
      const outcomes = await Promise.allSettled(
        wanting(deps.validating.all()).map(({ webhook, resource }) => ask(deps, webhook, resource, request)),
      );
      const refused = outcomes.find((outcome) => outcome.status === "rejected");
      if (refused !== undefined) throw refused.reason;
    },
  };
}

/** The version in which the webhook wants to see this request; undefined when it does not want to see it. */
function wantedIn(deps: WebhookDeps, webhook: Webhook, request: AdmissionRequest): Resource | undefined {
  const resource = matchedResource(deps, webhook.match, request);
  if (resource === undefined || webhook.conditions === undefined) return resource;
  const { matched, decisions } = webhook.conditions.evaluate(policyInput(deps, resource, request));
  const failure = decisions.find(({ action }) => action === "Deny");
  if (failure !== undefined) {
    throw new StatusError(
      403,
      "Forbidden",
      `failed to evaluate match conditions of webhook ${JSON.stringify(webhook.name)}: ${failure.message}`,
    );
  }
  // A condition that failed under the policy Ignore skips the webhook.
  return matched && decisions.length === 0 ? resource : undefined;
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
  const code =
    typeof status["code"] === "number" && status["code"] >= 400 && status["code"] < 600 ? status["code"] : 400;
  const details = isJsonObject(status["details"]) ? status["details"] : undefined;
  const reason = textOf(status["reason"]);
  return new StatusError(code, reason, `admission webhook ${JSON.stringify(name)} denied the request${why}`, details);
}

function reviewOf(resource: Resource, request: AdmissionRequest): JsonObject {
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      ...admissionRequestJson(resource, request),
      object: objectIn(resource, request.object),
      oldObject: objectIn(resource, request.old),
    },
  };
}
