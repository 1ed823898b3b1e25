import { compileMutatingPolicy, compileValidatingPolicy, type PolicyProblem } from "@polyvirt/cel";

import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import { columns, computed } from "./columns.ts";
import type { ApiObject, BuiltinKind } from "./kind.ts";
import { fill, objectsIn } from "./pod-defaults.ts";
import { actionErrors, bindingErrors, PolicyChecks } from "./policy-validation.ts";

const v1 = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
const schema = (kind: string): string => `io.k8s.api.admissionregistration.v1.${kind}`;
const categories = ["api-extensions"];

function defaultMatch(match: unknown): void {
  if (!isJsonObject(match)) return;
  fill(match, { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} });
  for (const list of ["resourceRules", "excludeResourceRules"]) {
    for (const rule of objectsIn(match[list])) fill(rule, { scope: "*" });
  }
}

function defaultPolicy(object: ApiObject): void {
  if (!isJsonObject(object["spec"])) object["spec"] = {};
  const spec = object["spec"] as JsonObject;
  fill(spec, { failurePolicy: "Fail" });
  defaultMatch(spec["matchConstraints"]);
}

function checksOf(object: ApiObject, problems: readonly PolicyProblem[]): PolicyChecks {
  return new PolicyChecks(object.metadata.name ?? "", specOf(object), problems);
}

const specOf = (object: ApiObject): JsonObject => (isJsonObject(object["spec"]) ? object["spec"] : {});

const count = (name: string, ...path: string[]) =>
  ({ name, type: "integer", value: (object: ApiObject) => objectsIn(valueAt(object, ...path)).length }) as const;
const paramKind = computed("ParamKind", (object) => {
  const kind = valueAt(object, "spec", "paramKind");
  return kind === undefined ? "<unset>" : `${textOf(valueAt(kind, "apiVersion"))}/${textOf(valueAt(kind, "kind"))}`;
});
const bindingColumns = columns(
  computed("PolicyName", (object) => valueAt(object, "spec", "policyName")),
  computed("ParamRef", (object) => {
    const reference = valueAt(object, "spec", "paramRef");
    if (reference === undefined) return "<unset>";
    const namespace = textOf(valueAt(reference, "namespace"));
    return `${namespace === "" ? "*" : namespace}/${textOf(valueAt(reference, "name")) || "*"}`;
  }),
);

export const policyKinds: readonly BuiltinKind[] = [
  {
    ...v1,
    kind: "ValidatingAdmissionPolicy",
    description: "Expressions that decide whether objects may be stored.",
    plural: "validatingadmissionpolicies",
    schema: schema("ValidatingAdmissionPolicy"),
    categories,
    subresources: ["status"],
    columns: columns(count("Validations", "spec", "validations"), paramKind),
    strategy: {
      countsGenerations: true,
      applyDefaults: defaultPolicy,
      validate: (object) => checksOf(object, compileValidatingPolicy(object["spec"] ?? {}).problems).validating(),
    },
  },
  {
    ...v1,
    kind: "ValidatingAdmissionPolicyBinding",
    description: "Where a ValidatingAdmissionPolicy applies, and what a failure leads to.",
    plural: "validatingadmissionpolicybindings",
    schema: schema("ValidatingAdmissionPolicyBinding"),
    categories,
    columns: bindingColumns,
    strategy: {
      countsGenerations: true,
      applyDefaults: (object) => defaultMatch(valueAt(object, "spec", "matchResources")),
      validate: (object) => [
        ...bindingErrors(specOf(object)),
        ...actionErrors(valueAt(object, "spec", "validationActions")),
      ],
    },
  },
  {
    ...v1,
    kind: "MutatingAdmissionPolicy",
    description: "Expressions that change objects before they are stored.",
    plural: "mutatingadmissionpolicies",
    schema: schema("MutatingAdmissionPolicy"),
    categories,
    columns: columns(count("Mutations", "spec", "mutations"), paramKind),
    strategy: {
      countsGenerations: true,
      applyDefaults(object) {
        defaultPolicy(object);
        fill(object["spec"] as JsonObject, { reinvocationPolicy: "Never" });
      },
      validate: (object) => checksOf(object, compileMutatingPolicy(object["spec"] ?? {}).problems).mutating(),
    },
  },
  {
    ...v1,
    kind: "MutatingAdmissionPolicyBinding",
    description: "Where a MutatingAdmissionPolicy applies.",
    plural: "mutatingadmissionpolicybindings",
    schema: schema("MutatingAdmissionPolicyBinding"),
    categories,
    columns: bindingColumns,
    strategy: {
      countsGenerations: true,
      applyDefaults: (object) => defaultMatch(valueAt(object, "spec", "matchResources")),
      validate: (object) => bindingErrors(specOf(object)),
    },
  },
];
