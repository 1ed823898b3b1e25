import { compileConditions } from "../admission/webhook-config.ts";
import { fieldError, type FieldError } from "../http/status-error.ts";
import { isJsonObject, valueAt, textOf } from "../json.ts";
import { ageColumn, columns, computed, nameColumn } from "./columns.ts";
import type { ApiObject, BuiltinKind } from "./kind.ts";
import { fill, objectsIn } from "./pod-defaults.ts";

const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };

function defaultWebhooks(object: ApiObject, mutating: boolean): void {
  for (const webhook of objectsIn(object["webhooks"])) {
    fill(webhook, {
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      timeoutSeconds: 10,
      namespaceSelector: {},
      objectSelector: {},
    });
    if (mutating) fill(webhook, { reinvocationPolicy: "Never" });
    const service = valueAt(webhook, "clientConfig", "service");
    if (isJsonObject(service)) fill(service, { port: 443 });
    for (const rule of objectsIn(webhook["rules"])) fill(rule, { scope: "*" });
  }
}

function validateWebhooks(object: ApiObject): FieldError[] {
  const names = new Set<unknown>();
  return objectsIn(object["webhooks"]).flatMap((webhook, index) => {
    const field = `webhooks[${index}]`;
    const found: FieldError[] = [];
    if (names.has(webhook["name"])) found.push(fieldError.duplicate(`${field}.name`, webhook["name"]));
    names.add(webhook["name"]);
    if (textOf(webhook["name"]).split(".").length < 3) {
      found.push(
        fieldError.invalid(
          `${field}.name`,
          webhook["name"],
          "should be a domain with at least three segments separated by dots",
        ),
      );
    }
    const config = webhook["clientConfig"];
    if ((valueAt(config, "url") === undefined) === (valueAt(config, "service") === undefined)) {
      found.push(fieldError.required(`${field}.clientConfig`, "exactly one of url or service is required"));
    }
    if (!["None", "NoneOnDryRun"].includes(textOf(webhook["sideEffects"]))) {
      found.push(fieldError.notSupported(`${field}.sideEffects`, webhook["sideEffects"], ["None", "NoneOnDryRun"]));
    }
    if (!((webhook["admissionReviewVersions"] ?? []) as unknown[]).includes("v1")) {
      found.push(
        fieldError.invalid(
          `${field}.admissionReviewVersions`,
          webhook["admissionReviewVersions"],
          "must include at least one of v1, v1beta1",
        ),
      );
    }
    for (const { field: place, message } of compileConditions(webhook)?.problems ?? []) {
      found.push(fieldError.invalid(place.replace("spec", field), "", message));
    }
    const timeout = webhook["timeoutSeconds"];
    if (typeof timeout === "number" && (timeout < 1 || timeout > 30)) {
      found.push(
        fieldError.invalid(`${field}.timeoutSeconds`, timeout, "the timeout value must be between 1 and 30 seconds"),
      );
    }
    return found;
  });
}

const webhooksColumn = {
  name: "Webhooks",
  type: "integer",
  value: (object: ApiObject) => objectsIn(object["webhooks"]).length,
} as const;

const mutatingWebhookConfiguration: BuiltinKind = {
  ...admission,
  kind: "MutatingWebhookConfiguration",
  description: "Servers that are asked to complete or change objects before they are stored.",
  plural: "mutatingwebhookconfigurations",
  schema: "io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration",
  categories: ["api-extensions"],
  columns: columns(webhooksColumn),
  strategy: {
    countsGenerations: true,
    applyDefaults: (object) => defaultWebhooks(object, true),
    validate: validateWebhooks,
  },
};

const validatingWebhookConfiguration: BuiltinKind = {
  ...admission,
  kind: "ValidatingWebhookConfiguration",
  description: "Servers that are asked whether objects may be stored.",
  plural: "validatingwebhookconfigurations",
  schema: "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
  categories: ["api-extensions"],
  columns: columns(webhooksColumn),
  strategy: {
    countsGenerations: true,
    applyDefaults: (object) => defaultWebhooks(object, false),
    validate: validateWebhooks,
  },
};

const apiService: BuiltinKind = {
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  description: "An API group that another server answers for.",
  plural: "apiservices",
  namespaced: false,
  schema: "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
  categories: ["api-extensions"],
  subresources: ["status"],
  columns: [
    nameColumn,
    computed("Service", (object) => {
      const service = valueAt(object, "spec", "service");
      return isJsonObject(service) ? `${textOf(service["namespace"])}/${textOf(service["name"])}` : "Local";
    }),
    computed("Available", (object) => {
      const found = objectsIn(valueAt(object, "status", "conditions")).find(
        (condition) => condition["type"] === "Available",
      );
      if (found === undefined) return "Unknown";
      return found["status"] === "True" ? "True" : `${textOf(found["status"])} (${textOf(found["reason"])})`;
    }),
    ageColumn,
  ],
  strategy: {
    applyDefaults(object) {
      const service = valueAt(object, "spec", "service");
      if (isJsonObject(service)) fill(service, { port: 443 });
    },
    prepareCreate(object) {
      object["status"] = {};
    },
    validate(object) {
      const expected = `${textOf(valueAt(object, "spec", "version"))}.${textOf(valueAt(object, "spec", "group"))}`;
      return object.metadata.name === expected
        ? []
        : [
            fieldError.invalid(
              "metadata.name",
              object.metadata.name,
              `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`,
            ),
          ];
    },
  },
};

export const extensionKinds: readonly BuiltinKind[] = [
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
  apiService,
];
