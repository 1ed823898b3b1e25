import type { KubeObject, LabelSelector, ResourceType } from "./meta.ts";

export interface WebhookClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** Base64 of the PEM bundle. */
  caBundle?: string;
}

export interface RuleWithOperations {
  operations?: ("CREATE" | "UPDATE" | "DELETE" | "CONNECT" | "*")[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: "Cluster" | "Namespaced" | "*";
}

export interface ValidatingWebhook {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: RuleWithOperations[];
  failurePolicy?: "Fail" | "Ignore";
  matchPolicy?: "Exact" | "Equivalent";
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  timeoutSeconds?: number;
  admissionReviewVersions: string[];
  matchConditions?: { name: string; expression: string }[];
}

export interface MutatingWebhook extends ValidatingWebhook {
  reinvocationPolicy?: "Never" | "IfNeeded";
}

export interface MutatingWebhookConfiguration extends KubeObject {
  webhooks?: MutatingWebhook[];
}

export interface ValidatingWebhookConfiguration extends KubeObject {
  webhooks?: ValidatingWebhook[];
}

const admissionregistration = { group: "admissionregistration.k8s.io", version: "v1" } as const;

export const mutatingWebhookConfigurations: ResourceType<MutatingWebhookConfiguration> = {
  ...admissionregistration,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  namespaced: false,
};
export const validatingWebhookConfigurations: ResourceType<ValidatingWebhookConfiguration> = {
  ...admissionregistration,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  namespaced: false,
};
