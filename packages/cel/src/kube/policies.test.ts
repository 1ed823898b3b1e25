import type { JsonObject } from "@polyvirt/core";
import { describe, expect, it } from "vitest";
import type { AuthorizationQuestion } from "../lib/kubernetes/authorizer.ts";
import { applyConfiguration } from "./apply-configuration.ts";
import { compileMutatingPolicy } from "./mutating-policy.ts";
import { applyBinding } from "./policy-binding.ts";
import { compileValidatingPolicy, type ValidatingPolicySpec } from "./validating-policy.ts";

const request = {
  operation: "CREATE",
  name: "web",
  namespace: "prod",
  userInfo: { username: "ann", groups: ["dev"] },
  kind: { group: "apps", version: "v1", kind: "Deployment" },
};
const object = { metadata: { name: "web" }, spec: { replicas: 7 } };

function decisions(spec: ValidatingPolicySpec, input: object = {}): unknown {
  return compileValidatingPolicy(spec).evaluate({ object, request, ...input }).decisions;
}

describe("validating policies", () => {
  it("admits and denies", () => {
    const spec = { validations: [{ expression: "object.spec.replicas <= 5" }] };
    expect(decisions(spec)).toEqual([
      {
        action: "Deny",
        index: 0,
        failed: false,
        message: "failed expression: object.spec.replicas <= 5",
        reason: "Invalid",
      },
    ]);
    expect(decisions(spec, { object: { spec: { replicas: 1 } } })).toMatchObject([{ action: "Admit" }]);
  });

  it("sees parameters, the request, the namespace and the old object", () => {
    const policy = compileValidatingPolicy({
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      variables: [
        { name: "limit", expression: "int(params.data.max)" },
        { name: "double", expression: "variables.limit * 2" },
      ],
      validations: [
        {
          expression: "object.spec.replicas < variables.double",
          messageExpression: "'at most ' + string(variables.double)",
        },
        { expression: "request.userInfo.username == 'ann' && namespaceObject.metadata.labels.env == 'prod'" },
        { expression: "oldObject == null || oldObject.spec.replicas == object.spec.replicas" },
      ],
    });
    const namespaceObject = { metadata: { name: "prod", labels: { env: "prod" } } };
    const params = { data: { max: "3" } };
    const result = policy.evaluate({ object, request, params, namespaceObject, oldObject: { spec: { replicas: 7 } } });
    expect(result.decisions.map(({ action, message }) => [action, message])).toEqual([
      ["Deny", "at most 6"],
      ["Admit", ""],
      ["Admit", ""],
    ]);
  });

  it("evaluates a variable once and only when it is read", () => {
    const expression = "object.list.map(x, object.list.map(y, x + y)).size() > 0";
    const spec = {
      variables: [
        { name: "unused", expression: "1 / 0" },
        { name: "heavy", expression },
      ],
      validations: Array.from({ length: 50 }, () => ({ expression: "variables.heavy" })),
    };
    const list = Array.from({ length: 200 }, (_, index) => index);
    expect(decisions(spec, { object: { list } })).toEqual(
      Array.from({ length: 50 }, (_, index) => ({ action: "Admit", index, failed: false, message: "", reason: "" })),
    );
  });

  it("leaves what cannot be evaluated to the failure policy", () => {
    const validations = [{ expression: "object.spec.missing == 1" }];
    const message = "expression 'object.spec.missing == 1' resulted in error: no such key: missing";
    expect(decisions({ validations })).toMatchObject([{ action: "Deny", failed: true, message }]);
    expect(decisions({ validations, failurePolicy: "Ignore" })).toMatchObject([
      { action: "Admit", failed: true, message },
    ]);
  });

  it("lets a false match condition win over one that fails", () => {
    const validations = [{ expression: "false" }];
    const broken = { name: "broken", expression: "object.spec.nothing.here" };
    const no = { name: "no", expression: "false" };
    expect(compileValidatingPolicy({ validations, matchConditions: [broken] }).problems).toEqual([
      { field: "spec.matchConditions[0].expression", message: "must evaluate to bool but got dyn" },
    ]);
    const failing = { name: "failing", expression: "object.spec.nothing == 1" };
    expect(decisions({ validations, matchConditions: [failing, no] })).toEqual([]);
    expect(decisions({ validations, matchConditions: [failing] })).toMatchObject([
      { action: "Deny", message: "expression 'object.spec.nothing == 1' resulted in error: no such key: nothing" },
    ]);
    expect(decisions({ validations, matchConditions: [failing], failurePolicy: "Ignore" })).toEqual([]);
  });

  it("says what does not compile", () => {
    const { problems } = compileValidatingPolicy({
      validations: [
        { expression: "object.spec.replicas < 'x" },
        { expression: "request.nmae == 'x'", messageExpression: "1" },
      ],
      auditAnnotations: [{ key: "a", valueExpression: "1" }],
    });
    expect(problems.map(({ field }) => field)).toEqual([
      "spec.validations[0].expression",
      "spec.validations[1].expression",
      "spec.validations[1].messageExpression",
      "spec.auditAnnotations[0].valueExpression",
    ]);
    expect(problems[1]?.message).toContain("undefined field 'nmae'");
    expect(problems[2]?.message).toBe("must evaluate to string but got int");
  });

  it("stops at the budget", () => {
    const spec = { validations: [{ expression: "object.l.all(a, object.l.all(b, object.l.all(c, a + b + c > 0)))" }] };
    const l = Array.from({ length: 300 }, () => 1);
    expect(decisions(spec, { object: { l } })).toMatchObject([
      {
        action: "Deny",
        failed: true,
        message: expect.stringContaining("operation cancelled: actual cost limit exceeded"),
      },
    ]);
  });

  it("asks the authorizer", () => {
    const asked: AuthorizationQuestion[] = [];
    const authorizer = {
      user: { name: "ann" },
      requestResource: { group: "apps", resource: "deployments", subresource: "", namespace: "prod", name: "web" },
      authorizer: {
        authorize(question: AuthorizationQuestion) {
          asked.push(question);
          return { allowed: "path" in question, reason: "because" };
        },
      },
    };
    const expression =
      "authorizer.path('/healthz').check('get').allowed() && !authorizer.requestResource.check('custom').allowed()";
    expect(decisions({ validations: [{ expression }] }, { authorizer })).toMatchObject([{ action: "Admit" }]);
    expect(asked).toEqual([
      { user: { name: "ann" }, verb: "get", path: "/healthz" },
      { user: { name: "ann" }, verb: "custom", ...authorizer.requestResource },
    ]);
  });

  it("turns decisions into denials, warnings and annotations", () => {
    const policy = compileValidatingPolicy({
      validations: [{ expression: "false", message: "no", reason: "Forbidden" }],
      auditAnnotations: [
        { key: "who", valueExpression: "request.userInfo.username" },
        { key: "none", valueExpression: "object.spec.replicas > 100 ? 'many' : ''" },
      ],
    });
    const result = policy.evaluate({ object, request });
    const bound = { policyName: "p", bindingName: "b" };
    expect(applyBinding({ ...bound, validationActions: ["Deny"] }, result)).toEqual({
      denial: {
        message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
        reason: "Forbidden",
        code: 403,
      },
      warnings: [],
      annotations: { "p/who": "ann" },
    });
    const soft = applyBinding({ ...bound, validationActions: ["Warn", "Audit"] }, result);
    expect(soft.denial).toBeUndefined();
    expect(soft.warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"]);
    expect(JSON.parse(soft.annotations["validation.policy.admission.k8s.io/validation_failure"] ?? "")).toEqual([
      { message: "no", policy: "p", binding: "b", expressionIndex: 0, validationActions: ["Warn", "Audit"] },
    ]);
  });
});

describe("mutating policies", () => {
  const apply = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
  const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });

  it("applies one mutation after the other", () => {
    const policy = compileMutatingPolicy({
      variables: [{ name: "next", expression: "object.spec.replicas + 1" }],
      mutations: [
        apply("Object{spec: Object.spec{replicas: variables.next}}"),
        apply("Object{spec: Object.spec{replicas: variables.next, paused: true}}"),
        patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': string(object.spec.replicas)}}]"),
      ],
    });
    expect(policy.problems).toEqual([]);
    const result = policy.evaluate({ object, request });
    expect(result).toEqual({
      matched: true,
      changed: true,
      errors: [],
      denied: false,
      object: { metadata: { name: "web", labels: { a: "9" } }, spec: { replicas: 9, paused: true } },
    });
  });

  it("refuses objects that are called after another field", () => {
    const policy = compileMutatingPolicy({ mutations: [apply("Object{spec: Object.status{replicas: 1}}")] });
    const result = policy.evaluate({ object, request });
    expect(result.denied).toBe(true);
    expect(result.errors[0]).toContain('unexpected type name "Object.status", expected "Object.spec"');
  });

  it("refuses to replace atomic lists", () => {
    const policy = compileMutatingPolicy({ mutations: [apply("Object{spec: Object.spec{args: ['a']}}")] });
    expect(policy.evaluate({ object, request }).errors).toEqual([
      "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.args",
    ]);
  });

  it("does nothing when a test of the patch fails, and fails when it cannot be applied", () => {
    const tested = compileMutatingPolicy({
      mutations: [
        patch(
          "[JSONPatch{op: 'test', path: '/spec/replicas', value: 1}, JSONPatch{op: 'replace', path: '/spec/replicas', value: 2}]",
        ),
      ],
    });
    expect(tested.evaluate({ object, request })).toMatchObject({ changed: false, errors: [] });
    const impossible = compileMutatingPolicy({
      mutations: [patch("[JSONPatch{op: 'remove', path: '/spec/nothing'}]")],
    });
    expect(impossible.evaluate({ object, request }).denied).toBe(true);
  });

  it("escapes keys for paths", () => {
    const policy = compileMutatingPolicy({
      mutations: [
        patch(
          "[JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('example.com/a~b'), value: 'x'}]",
        ),
      ],
    });
    const annotated = { metadata: { annotations: {} } };
    expect(policy.evaluate({ object: annotated, request }).object).toEqual({
      metadata: { annotations: { "example.com/a~b": "x" } },
    });
  });

  it.each([
    ["Object.spec{replicas: 1}", "must evaluate to Object but got Object.spec"],
    ["{'spec': 1}", "must evaluate to Object but got map(string, int)"],
    ["Objekt{}", "undeclared reference to 'Objekt'"],
  ])("refuses %s", (expression, problem) => {
    expect(compileMutatingPolicy({ mutations: [apply(expression)] }).problems[0]?.message).toContain(problem);
  });
});

describe("applyConfiguration", () => {
  it("says what is not of its schema", () => {
    const schema = {
      type: "object",
      properties: {
        count: { type: "integer" },
        tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      },
    };
    const problem = (change: JsonObject): string | undefined => {
      const result = applyConfiguration({}, change, schema);
      return result.ok ? undefined : result.problem.replace("failed to convert patch object to typed object: ", "");
    };
    expect(problem({ cuont: 1 })).toBe(".cuont: field not declared in schema");
    expect(problem({ count: "1" })).toBe(".count: expected numeric (int or float), got string");
    expect(problem({ tags: "a" })).toBe(".tags: expected list, got &{a}");
    expect(problem({ tags: [true] })).toBe(".tags[=true]: expected string, got &value.valueUnstructured{Value:true}");
    expect(problem({ tags: ["a", "b", "a"] })).toBe('.tags: duplicate entries for key [="a"]');
    expect(problem({ count: 1, tags: ["a"] })).toBeUndefined();
  });

  it("merges lists by key and sets by value", () => {
    const schema = {
      properties: {
        ports: {
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name", "protocol"],
          items: {
            properties: { name: {}, protocol: {}, port: {}, tags: { "x-kubernetes-list-type": "set" } },
          },
        },
      },
    };
    const current = {
      ports: [
        { name: "a", protocol: "TCP", port: 1, tags: ["x"] },
        { name: "a", protocol: "UDP", port: 2 },
      ],
    };
    const change = {
      ports: [
        { name: "a", protocol: "TCP", tags: ["y", "x"] },
        { name: "b", protocol: "TCP", port: 3 },
      ],
    };
    expect(applyConfiguration(current, change, schema)).toEqual({
      ok: true,
      object: {
        ports: [
          { name: "a", protocol: "TCP", port: 1, tags: ["y", "x"] },
          { name: "a", protocol: "UDP", port: 2 },
          { name: "b", protocol: "TCP", port: 3 },
        ],
      },
    });
  });

  it("replaces atomic lists where that is asked for", () => {
    expect(applyConfiguration({ a: [1], b: 1 }, { a: [2] }, undefined, { atomics: "replace" })).toEqual({
      ok: true,
      object: { a: [2], b: 1 },
    });
  });
});
