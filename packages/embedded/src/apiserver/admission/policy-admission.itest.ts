import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestServer, type TestServer } from "../testing/test-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const admission = "/apis/admissionregistration.k8s.io/v1";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] }];

describe("expressions", () => {
  let test: TestServer;
  beforeAll(async () => {
    test = await startTestServer();
  });
  afterAll(() => test.stop());

  const create = (name: string, rest: object = {}) => test.request("POST", configMaps, { metadata: { name }, ...rest });
  const install = (plural: string, name: string, spec: object) =>
    test.request("POST", `${admission}/${plural}`, { metadata: { name }, spec });

  it("of a policy deny with a message of their own, where its binding says so", async () => {
    await install("validatingadmissionpolicies", "limit", {
      matchConstraints: { resourceRules: rules },
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConditions: [{ name: "named", expression: "object.metadata.name.startsWith('limited')" }],
      variables: [{ name: "keys", expression: "has(object.data) ? size(object.data) : 0" }],
      validations: [
        {
          expression: "variables.keys <= int(params.data.max)",
          messageExpression: "'has %d keys'.format([variables.keys])",
        },
      ],
    });
    await create("limits", { data: { max: "1" } });
    await install("validatingadmissionpolicybindings", "limit", {
      policyName: "limit",
      validationActions: ["Deny"],
      paramRef: { name: "limits", parameterNotFoundAction: "Deny" },
    });
    expect((await create("limited-1", { data: { a: "1" } })).status).toBe(201);
    expect((await create("free", { data: { a: "1", b: "2" } })).status).toBe(201);
    const denied = await create("limited-2", { data: { a: "1", b: "2" } });
    expect(denied).toMatchObject({ status: 422, json: { reason: "Invalid" } });
    expect(denied.json.message).toBe(
      `configmaps "limited-2" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'limit' denied request: has 2 keys`,
    );
  });

  it("of a policy may ask what the user may do", async () => {
    await install("validatingadmissionpolicies", "careful", {
      matchConstraints: { resourceRules: rules },
      matchConditions: [{ name: "named", expression: "object.metadata.name == 'careful'" }],
      validations: [
        {
          expression: "authorizer.group('').resource('nodes').check('delete').allowed()",
          message: "only for those who may delete nodes",
        },
      ],
    });
    await install("validatingadmissionpolicybindings", "careful", {
      policyName: "careful",
      validationActions: ["Deny"],
    });
    await test.request("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
      metadata: { name: "editor" },
      roleRef: { kind: "ClusterRole", name: "edit" },
      subjects: [{ kind: "User", name: "ed" }],
    });
    const type = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true } as const;
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "careful", namespace: "default" } };
    await expect(test.clientAs("ed", []).create(type, object)).rejects.toThrow(/only for those who may delete nodes/);
    await test.client.create(type, object);
  });

  it("of a mutating policy change the object, merging as its schema says", async () => {
    await install("mutatingadmissionpolicies", "label", {
      reinvocationPolicy: "Never",
      matchConstraints: { resourceRules: [{ ...rules[0], resources: ["pods"] }] },
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: {
            expression:
              "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', env: [Object.spec.containers.env{name: 'ADDED', value: 'yes'}]}]}}",
          },
        },
      ],
    });
    await install("mutatingadmissionpolicybindings", "label", { policyName: "label" });
    const pod = await test.request("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name: "p" },
      spec: {
        containers: [
          { name: "c", image: "x", env: [{ name: "OWN", value: "1" }] },
          { name: "d", image: "y" },
        ],
      },
    });
    expect(pod.json.spec.containers).toMatchObject([
      { name: "c", image: "x", env: [{ name: "OWN" }, { name: "ADDED", value: "yes" }] },
      { name: "d" },
    ]);
  });

  it("that do not compile keep a policy out", async () => {
    const answer = await install("validatingadmissionpolicies", "broken", {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: "1 + 1" }],
    });
    expect(answer.json.message).toMatch(
      /spec.validations\[0\].expression: Invalid value: "1 \+ 1": must evaluate to bool but got int/,
    );
  });

  it("of a custom resource's schema check it, and its changes", async () => {
    const definition = (rule: string) => ({
      metadata: { name: "ranges.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "ranges", kind: "Range" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  spec: {
                    type: "object",
                    properties: { min: { type: "integer" }, max: { type: "integer" } },
                    "x-kubernetes-validations": [
                      { rule },
                      { rule: "self.min == oldSelf.min", message: "min may not change" },
                    ],
                  },
                },
              },
            },
          },
        ],
      },
    });
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    expect((await test.request("POST", definitions, definition("self.min <= self.maxx"))).json.message).toMatch(
      /x-kubernetes-validations\[0\].rule: .*undefined field 'maxx'/,
    );
    await test.request("POST", definitions, definition("self.min <= self.max"));
    const path = "/apis/example.com/v1/namespaces/default/ranges";
    const create = (spec: object) =>
      test.request("POST", path, { apiVersion: "example.com/v1", kind: "Range", metadata: { name: "r" }, spec });
    const wrong = await create({ min: 2, max: 1 });
    expect(wrong.json.message).toMatch(/spec: Invalid value: failed rule: self.min <= self.max/);
    await create({ min: 1, max: 2 });
    const change = (spec: object) =>
      test.request("PATCH", `${path}/r`, { spec }, { "Content-Type": "application/merge-patch+json" });
    expect((await change({ min: 0 })).json.message).toMatch(/min may not change/);
    expect((await change({ max: 9 })).status).toBe(200);
  });
});
