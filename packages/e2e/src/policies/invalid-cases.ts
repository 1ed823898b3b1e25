import type { PolicyCase } from "./policy-case.ts";
import { widgetRules, widgetWriteRules } from "./widget.ts";

type Spec = Readonly<Record<string, unknown>>;

const validating: Spec = {
  matchConstraints: { resourceRules: widgetRules },
  validations: [{ expression: "true" }],
};
const mutation = { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } };
const mutating: Spec = {
  matchConstraints: { resourceRules: widgetWriteRules },
  reinvocationPolicy: "Never",
  mutations: [mutation],
};
const condition = { name: "c", expression: "true" };
const [rule] = widgetRules;

/** Specifications of policies and bindings that are wrong in one way each; undefined leaves a field out. */
const wrong: Readonly<Record<string, readonly [plural: string, base: Spec, changes: readonly Spec[]]>> = {
  policy: [
    "validatingadmissionpolicies",
    validating,
    [
      { failurePolicy: "Perhaps" },
      { matchConstraints: undefined },
      { matchConstraints: {} },
      { matchConstraints: { resourceRules: [{ ...rule, operations: [] }] } },
      { matchConstraints: { resourceRules: [{ ...rule, operations: ["*", "CREATE"] }] } },
      { matchConstraints: { resourceRules: [{ ...rule, operations: ["READ"] }] } },
      { matchConstraints: { resourceRules: [{ ...rule, apiGroups: [] }] } },
      { matchConstraints: { resourceRules: [{ ...rule, apiVersions: [] }] } },
      { matchConstraints: { resourceRules: [{ ...rule, resources: [] }] } },
      { matchConstraints: { resourceRules: [{ ...rule, resources: ["*", "pods"] }] } },
      { matchConstraints: { resourceRules: [{ ...rule, scope: "Everywhere" }] } },
      { matchConstraints: { resourceRules: widgetRules, matchPolicy: "Roughly" } },
      { matchConstraints: { resourceRules: widgetRules, objectSelector: { matchLabels: { "a b": "c" } } } },
      { validations: undefined },
      { validations: [{ expression: " " }] },
      { validations: [{ expression: "true", message: " " }] },
      { validations: [{ expression: "true", message: "two\nlines" }] },
      { validations: [{ expression: "true\n&& true" }] },
      { validations: [{ expression: "true", messageExpression: " " }] },
      { validations: [{ expression: "true", reason: "Unauthorized" }] },
      { validations: [{ expression: "true", reason: "Because" }] },
      { matchConditions: [{ ...condition, name: "" }] },
      { matchConditions: [{ ...condition, name: "not a name" }] },
      { matchConditions: [condition, condition] },
      { matchConditions: [{ name: "c", expression: " " }] },
      { variables: [{ name: "not a name", expression: "1" }] },
      { variables: [{ name: "v", expression: "1 +" }] },
      {
        variables: [
          { name: "v", expression: "1" },
          { name: "v", expression: "2" },
        ],
      },
      { paramKind: { apiVersion: "", kind: "ConfigMap" } },
      { paramKind: { apiVersion: "v1", kind: "" } },
      { paramKind: { apiVersion: "a/b/c", kind: "X" } },
      { auditAnnotations: [{ key: "not a key", valueExpression: "'x'" }] },
      { auditAnnotations: [{ key: "k", valueExpression: "1" }] },
      {
        auditAnnotations: [
          { key: "k", valueExpression: "'a'" },
          { key: "k", valueExpression: "'b'" },
        ],
      },
    ],
  ],
  mutation: [
    "mutatingadmissionpolicies",
    mutating,
    [
      { mutations: undefined },
      { mutations: [{ ...mutation, patchType: "Merge" }] },
      { mutations: [{ patchType: "ApplyConfiguration" }] },
      { mutations: [{ patchType: "JSONPatch" }] },
      { mutations: [{ ...mutation, jsonPatch: { expression: "[]" } }] },
      { mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "" } }] },
      { mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "{}" } }] },
      { mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "JSONPatch{}" } }] },
      { mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Objekt{}" } }] },
      { reinvocationPolicy: "Always" },
      { failurePolicy: "Perhaps" },
      { matchConstraints: { resourceRules: widgetRules } },
      { matchConditions: [{ name: "c", expression: "object" }] },
      { variables: [{ name: "1v", expression: "1" }] },
    ],
  ],
  binding: [
    "validatingadmissionpolicybindings",
    { policyName: "some", validationActions: ["Deny"] },
    [
      { policyName: "" },
      { policyName: "Not A Name" },
      { validationActions: ["Deny", "Warn"] },
      { validationActions: ["Deny", "Deny"] },
      { validationActions: ["Scold"] },
      { paramRef: { parameterNotFoundAction: "Deny" } },
      { paramRef: { name: "n", selector: {}, parameterNotFoundAction: "Deny" } },
      { paramRef: { name: "n" } },
      { paramRef: { name: "n", parameterNotFoundAction: "Guess" } },
      { matchResources: { namespaceSelector: { matchExpressions: [{ key: "k", operator: "Like" }] } } },
      { matchResources: { resourceRules: [{ ...rule, operations: [] }] } },
    ],
  ],
};

export function invalidCases(): PolicyCase[] {
  return Object.entries(wrong).flatMap(([what, [plural, base, changes]]) =>
    changes.map((change, index) => {
      const id = `invalid-${what}-${index}`;
      const body = { metadata: { name: id }, spec: { ...base, ...change } };
      return { id, policies: [{ plural, body }], requests: [] };
    }),
  );
}
