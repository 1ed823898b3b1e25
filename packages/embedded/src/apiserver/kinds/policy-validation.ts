import type { PolicyProblem } from "@polyvirt/cel";
import { checkDnsSubdomain, checkQualifiedName } from "@polyvirt/core";

import { fieldError, type FieldError } from "../http/status-error.ts";
import { isJsonObject, textOf, type JsonObject } from "../json.ts";
import { objectsIn } from "./pod-defaults.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A problem unless the value is one of those that are known; a missing one is somebody else's concern. */
function oneOf(field: string, value: unknown, supported: readonly string[]): FieldError[] {
  return value === undefined || supported.includes(textOf(value))
    ? []
    : [fieldError.notSupported(field, value, supported)];
}

const invalidName = (field: string, value: string, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => fieldError.invalid(field, value, problem));

const isBlank = (value: unknown): boolean => textOf(value).trim() === "";

/** What is wrong with the parts of a policy that are no expressions, and, in their places, with the expressions. */
export class PolicyChecks {
  readonly #spec: JsonObject;
  readonly #name: string;
  readonly #problems: ReadonlyMap<string, string>;

  constructor(name: string, spec: JsonObject, problems: readonly PolicyProblem[]) {
    this.#name = name;
    this.#spec = spec;
    this.#problems = new Map(problems.map(({ field, message }) => [field, message]));
  }

  validating(): FieldError[] {
    const { validations, auditAnnotations } = this.#spec;
    const isEmpty = objectsIn(validations).length === 0 && objectsIn(auditAnnotations).length === 0;
    const words = "validations or auditAnnotations must contain at least one item";
    return [
      ...this.#common(operations),
      ...(isEmpty
        ? [fieldError.required("spec.validations", words), fieldError.required("spec.auditAnnotations", words)]
        : []),
      ...objectsIn(validations).flatMap((validation, index) =>
        this.#validation(validation, `spec.validations[${index}]`),
      ),
      ...this.#annotations(objectsIn(auditAnnotations)),
    ];
  }

  mutating(): FieldError[] {
    const mutations = objectsIn(this.#spec["mutations"]);
    return [
      ...this.#common(operations.filter((operation) => operation !== "DELETE")),
      ...(mutations.length === 0
        ? [fieldError.required("spec.mutations", "mutations must contain at least one item")]
        : mutations.flatMap((mutation, index) => this.#mutation(mutation, `spec.mutations[${index}]`))),
      ...oneOf("spec.reinvocationPolicy", this.#spec["reinvocationPolicy"], ["IfNeeded", "Never"]),
    ];
  }

  #expression(field: string, value: unknown): FieldError[] {
    const problem = this.#problems.get(field);
    return problem === undefined ? [] : [fieldError.invalid(field, value, problem)];
  }

  #common(supported: readonly string[]): FieldError[] {
    const spec = this.#spec;
    const match = spec["matchConstraints"];
    const rules = isJsonObject(match) ? objectsIn(match["resourceRules"]) : [];
    return [
      ...oneOf("spec.failurePolicy", spec["failurePolicy"], ["Fail", "Ignore"]),
      ...paramKindErrors(spec["paramKind"]),
      ...(isJsonObject(match)
        ? [
            ...matchErrors(match, "spec.matchConstraints"),
            ...forbiddenOperations(rules, supported),
            ...(rules.length === 0 ? [fieldError.required("spec.matchConstraints.resourceRules")] : []),
          ]
        : [fieldError.required("spec.matchConstraints")]),
      ...this.#conditions(),
      ...this.#variables(),
    ];
  }

  #conditions(): FieldError[] {
    const seen = new Set<string>();
    return objectsIn(this.#spec["matchConditions"]).flatMap((condition, index) => {
      const place = `spec.matchConditions[${index}]`;
      const name = textOf(condition["name"]);
      const blank = isBlank(condition["expression"]);
      const found = [
        ...(blank
          ? [fieldError.required(`${place}.expression`)]
          : this.#expression(`${place}.expression`, condition["expression"])),
        ...(name === "" ? [] : invalidName(`${place}.name`, name, checkQualifiedName(name))),
        ...(seen.has(name) ? [fieldError.duplicate(`${place}.name`, name)] : []),
      ];
      seen.add(name);
      return found;
    });
  }

  #variables(): FieldError[] {
    return objectsIn(this.#spec["variables"]).flatMap((variable, index) => {
      const place = `spec.variables[${index}]`;
      const name = textOf(variable["name"]);
      return [
        ...(name === "" || identifier.test(name)
          ? []
          : [fieldError.invalid(`${place}.name`, name, "must be a valid CEL identifier")]),
        ...(isBlank(variable["expression"]) ? [] : this.#expression(`${place}.expression`, variable["expression"])),
      ];
    });
  }

  #validation(validation: JsonObject, place: string): FieldError[] {
    const { expression, message, messageExpression, reason } = validation;
    const blank = (field: string, value: unknown): FieldError =>
      fieldError.invalid(`${place}.${field}`, value, "must be non-empty if specified");
    const given = (value: unknown): boolean => textOf(value) !== "";
    return [
      ...(isBlank(expression)
        ? [fieldError.required(`${place}.expression`, "expression is not specified")]
        : this.#expression(`${place}.expression`, expression)),
      ...(given(messageExpression) && isBlank(messageExpression)
        ? [blank("messageExpression", messageExpression)]
        : this.#expression(`${place}.messageExpression`, messageExpression)),
      ...(given(message) && isBlank(message)
        ? [blank("message", message)]
        : textOf(message).trim().includes("\n")
          ? [fieldError.invalid(`${place}.message`, message, "must not contain line breaks")]
          : []),
      ...oneOf(`${place}.reason`, reason, ["Forbidden", "Invalid", "RequestEntityTooLarge"]),
    ];
  }

  #annotations(annotations: readonly JsonObject[]): FieldError[] {
    const seen = new Set<string>();
    return annotations.flatMap((annotation, index) => {
      const place = `spec.auditAnnotations[${index}]`;
      const key = textOf(annotation["key"]);
      const full = `${this.#name}/${key}`;
      const found = [
        ...(key === "" ? [] : invalidName(`${place}.key`, full, checkQualifiedName(full))),
        ...(isBlank(annotation["valueExpression"])
          ? []
          : this.#expression(`${place}.valueExpression`, annotation["valueExpression"])),
        ...(seen.has(key) ? [fieldError.duplicate(`${place}.key`, key)] : []),
      ];
      seen.add(key);
      return found;
    });
  }

  #mutation(mutation: JsonObject, place: string): FieldError[] {
    const fields = { ApplyConfiguration: "applyConfiguration", JSONPatch: "jsonPatch" } as const;
    const type = textOf(mutation["patchType"]);
    if (type !== "ApplyConfiguration" && type !== "JSONPatch") {
      return oneOf(`${place}.patchType`, mutation["patchType"], Object.keys(fields));
    }
    const own = fields[type];
    const other = own === "jsonPatch" ? "applyConfiguration" : "jsonPatch";
    const patch = mutation[own];
    const words = `specified when patchType is ${type}`;
    if (!isJsonObject(patch)) return [fieldError.required(`${place}.${own}`, `must be ${words}`)];
    return [
      ...(mutation[other] === undefined
        ? []
        : [fieldError.invalid(`${place}.${other}`, `{${other}}`, `must not be ${words}`)]),
      ...(isBlank(patch["expression"])
        ? [fieldError.required(`${place}.${own}.expression`)]
        : this.#expression(`${place}.${own}.expression`, patch["expression"])),
    ];
  }
}

function paramKindErrors(kind: unknown): FieldError[] {
  if (!isJsonObject(kind)) return [];
  const version = textOf(kind["apiVersion"]);
  return [
    ...(version === ""
      ? [fieldError.required("spec.paramKind.apiVersion")]
      : version.split("/").length > 2
        ? [fieldError.invalid("spec.paramKind.apiVersion", version, `unexpected GroupVersion string: ${version}`)]
        : []),
    ...(textOf(kind["kind"]) === "" ? [fieldError.required("spec.paramKind.kind")] : []),
  ];
}

/** What a policy may not be about; the complaint names no rule. */
function forbiddenOperations(rules: readonly JsonObject[], supported: readonly string[]): FieldError[] {
  const asked = rules.flatMap((rule) => stringsIn(rule["operations"]));
  return asked
    .filter((operation) => operations.includes(operation) && !supported.includes(operation))
    .map((operation) =>
      fieldError.notSupported("spec.matchConstraints.resourceRules.operations", operation, supported),
    );
}

const stringsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf) : []);

/** The `matchConstraints` of a policy or `matchResources` of a binding. */
function matchErrors(match: JsonObject, place: string): FieldError[] {
  return [
    ...oneOf(`${place}.matchPolicy`, match["matchPolicy"], ["Equivalent", "Exact"]),
    ...["namespaceSelector", "objectSelector"].flatMap((name) => selectorErrors(match[name], `${place}.${name}`)),
    ...["resourceRules", "excludeResourceRules"].flatMap((name) =>
      objectsIn(match[name]).flatMap((rule, index) => ruleErrors(rule, `${place}.${name}[${index}]`)),
    ),
  ];
}

function ruleErrors(rule: JsonObject, place: string): FieldError[] {
  const wildcard = (name: string, words: string): FieldError[] => {
    const list = stringsIn(rule[name]);
    if (list.length === 0) return [fieldError.required(`${place}.${name}`)];
    return list.length > 1 && list.includes("*")
      ? [fieldError.invalid(`${place}.${name}`, list, `if '*' is present, must not specify other ${words}`)]
      : [];
  };
  return [
    ...wildcard("apiGroups", "API groups"),
    ...wildcard("apiVersions", "API versions"),
    ...wildcard("resources", "resources without subresources"),
    ...wildcard("operations", "operations"),
    ...stringsIn(rule["operations"]).flatMap((operation, index) =>
      oneOf(`${place}.operations[${index}]`, operation, operations),
    ),
    ...oneOf(`${place}.scope`, rule["scope"], ["*", "Cluster", "Namespaced"]),
  ];
}

function selectorErrors(selector: unknown, place: string): FieldError[] {
  if (!isJsonObject(selector)) return [];
  const labels = isJsonObject(selector["matchLabels"]) ? Object.keys(selector["matchLabels"]) : [];
  const known = ["In", "NotIn", "Exists", "DoesNotExist"];
  return [
    ...labels.flatMap((key) => invalidName(`${place}.matchLabels`, key, checkQualifiedName(key))),
    ...objectsIn(selector["matchExpressions"]).flatMap((expression, index) =>
      known.includes(textOf(expression["operator"]))
        ? []
        : [
            fieldError.invalid(
              `${place}.matchExpressions[${index}].operator`,
              expression["operator"],
              "not a valid selector operator",
            ),
          ],
    ),
  ];
}

/** What is wrong with the binding of a policy, of either sort. */
export function bindingErrors(spec: JsonObject): FieldError[] {
  const name = textOf(spec["policyName"]);
  return [
    ...(name === "" ? [] : invalidName("spec.policyName", name, checkDnsSubdomain(name))),
    ...paramRefErrors(spec["paramRef"]),
    ...(isJsonObject(spec["matchResources"]) ? matchErrors(spec["matchResources"], "spec.matchResources") : []),
  ];
}

function paramRefErrors(reference: unknown): FieldError[] {
  if (!isJsonObject(reference)) return [];
  const [hasName, hasSelector] = [textOf(reference["name"]) !== "", reference["selector"] !== undefined];
  const action = reference["parameterNotFoundAction"];
  const words = "name and selector are mutually exclusive";
  return [
    ...(hasName && hasSelector
      ? [fieldError.forbidden("spec.paramRef.name", words), fieldError.forbidden("spec.paramRef.selector", words)]
      : hasName || hasSelector
        ? []
        : [fieldError.required("spec.paramRef", "one of name or selector must be specified")]),
    ...(action === undefined
      ? [fieldError.required("spec.paramRef.parameterNotFoundAction")]
      : oneOf("spec.paramRef.parameterNotFoundAction", action, ["Deny", "Allow"])),
  ];
}

const actions = ["Audit", "Deny", "Warn"];

export function actionErrors(given: unknown): FieldError[] {
  const field = "spec.validationActions";
  const list = stringsIn(given);
  const wrong = list.flatMap((action, index) =>
    list.indexOf(action) < index
      ? [fieldError.duplicate(`${field}[${index}]`, action)]
      : oneOf(`${field}[${index}]`, action, actions),
  );
  const words =
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
  return list.includes("Deny") && list.includes("Warn") ? [...wrong, fieldError.invalid(field, list, words)] : wrong;
}
