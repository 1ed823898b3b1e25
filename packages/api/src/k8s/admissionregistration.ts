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

/** A named CEL expression. */
interface NamedExpression {
  name: string;
  expression: string;
}

export interface ValidatingAdmissionPolicy extends KubeObject {
  spec?: {
    failurePolicy?: "Fail" | "Ignore";
    matchConstraints?: {
      matchPolicy?: "Exact" | "Equivalent";
      resourceRules?: RuleWithOperations[];
      namespaceSelector?: LabelSelector;
      objectSelector?: LabelSelector;
    };
    matchConditions?: NamedExpression[];
    variables?: NamedExpression[];
    validations?: { expression: string; message?: string; messageExpression?: string; reason?: string }[];
  };
}

export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  spec?: { policyName?: string; validationActions?: ("Deny" | "Warn" | "Audit")[] };
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
export const validatingAdmissionPolicies: ResourceType<ValidatingAdmissionPolicy> = {
  ...admissionregistration,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  namespaced: false,
};
export const validatingAdmissionPolicyBindings: ResourceType<ValidatingAdmissionPolicyBinding> = {
  ...admissionregistration,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  namespaced: false,
};
