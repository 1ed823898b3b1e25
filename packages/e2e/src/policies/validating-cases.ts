import { brokenConditions, conditionTemplates, randomCondition } from "./conditions.ts";
import { boundPolicy, type PolicyCase, type PolicyRequest } from "./policy-case.ts";
import type { Random } from "./random.ts";
import { createWidget, randomSpec, replaceSpec, widgetRules, widgets } from "./widget.ts";

const messages = [
  "'replicas: ' + string(object.spec.replicas)",
  "'%s has %d'.format([object.metadata.name, object.spec.replicas])",
  "object.spec.missing",
  "'two\\nlines'",
  "''",
  "'  trimmed  '",
  "variables.name + '!'",
  "request.operation + ' by ' + request.userInfo.username",
  "oldObject == null ? 'new' : 'changed'",
];

const annotations = [
  "'from ' + object.metadata.name",
  "object.spec.name",
  "null",
  "''",
  "string(1 / object.spec.replicas)",
];

const actions = [["Deny"], ["Warn"], ["Audit"], ["Deny", "Audit"], ["Warn", "Audit"]];

const variables = [
  { name: "name", expression: "object.metadata.name" },
  { name: "replicas", expression: "object.spec.?replicas.orValue(0)" },
  { name: "twice", expression: "variables.replicas * 2" },
  { name: "broken", expression: "object.spec.nothing.here" },
];

const aboutVariables = [
  "variables.replicas > 3",
  "variables.twice == variables.replicas + variables.replicas",
  "variables.broken == 1",
  "variables.twice < 7 || variables.broken",
  "variables.name.size() > 100",
];

const users = [
  {},
  { user: { name: "ed", group: "writers" } },
  { user: { name: "ann", group: "readers-and-writers" } },
] satisfies Pick<PolicyRequest, "user">[];

interface CaseSpec {
  readonly spec: object;
  readonly binding?: object;
  readonly requests?: readonly PolicyRequest[];
  readonly objects?: readonly PolicyRequest[];
}

function validatingCase(id: string, random: Random, { spec, binding, requests, objects }: CaseSpec): PolicyCase {
  return {
    id,
    labels: { env: random.pick(["prod", "test"]) },
    objects: [createWidget("old", randomSpec(random, 0.9)), ...(objects ?? [])],
    policies: boundPolicy("validating", id, {
      namespace: id,
      spec: { matchConstraints: { resourceRules: widgetRules }, ...spec },
      binding: { validationActions: ["Deny"], ...binding },
    }),
    requests: requests ?? lifeOf(id, random),
  };
}

/** A widget is made, and one that was there before the policy is changed and deleted, all by one of several users. */
function lifeOf(id: string, random: Random): PolicyRequest[] {
  const as = random.pick(users);
  const path = `${widgets}/old`;
  return [
    { ...createWidget(id, randomSpec(random)), ...as },
    { method: "PATCH", path, body: replaceSpec(randomSpec(random)), ...as },
    { method: "DELETE", path, ...as },
  ];
}

const eachTemplate = (random: Random): PolicyCase[] =>
  conditionTemplates.map((template, index) =>
    validatingCase(`condition-${index}`, random, {
      spec: {
        failurePolicy: random.pick(["Fail", "Ignore", "Fail"]),
        validations: [{ expression: template(random) }],
      },
      binding: { validationActions: random.pick(actions) },
    }),
  );

const eachBroken = (): PolicyCase[] =>
  brokenConditions.map((expression, index) => ({
    id: `broken-${index}`,
    policies: boundPolicy("validating", `broken-${index}`, {
      namespace: `broken-${index}`,
      spec: {
        matchConstraints: { resourceRules: widgetRules },
        matchConditions: [{ name: "broken", expression }],
        validations: [{ expression, messageExpression: expression }],
      },
      binding: { validationActions: ["Deny"] },
    }).slice(0, 1),
    requests: [],
  }));

function randomPolicy(random: Random): object {
  const some = <T>(probability: number, value: () => T): T[] => (random.chance(probability) ? [value()] : []);
  const conditions = [...some(0.4, () => randomCondition(random)), ...some(0.2, () => randomCondition(random))];
  const validations = Array.from({ length: 1 + random.below(3) }, () => ({
    expression: random.chance(0.3) ? random.pick(aboutVariables) : randomCondition(random, 2),
    ...Object.assign({}, ...some(0.4, () => ({ message: random.pick([" not so ", "never"]) }))),
    ...Object.assign({}, ...some(0.5, () => ({ messageExpression: random.pick(messages) }))),
    ...Object.assign({}, ...some(0.3, () => ({ reason: random.pick(["Forbidden", "RequestEntityTooLarge"]) }))),
  }));
  return {
    failurePolicy: random.pick(["Fail", "Fail", "Ignore"]),
    variables,
    matchConditions: conditions.map((expression, index) => ({ name: `condition-${index}`, expression })),
    validations,
    auditAnnotations: random
      .some(annotations, 0.15)
      .map((valueExpression, index) => ({ key: `key-${index}`, valueExpression })),
  };
}

const composed = (random: Random, count: number): PolicyCase[] =>
  Array.from({ length: count }, (_, index) =>
    validatingCase(`composed-${index}`, random, {
      spec: randomPolicy(random),
      binding: { validationActions: random.pick(actions) },
    }),
  );

const limits = (name: string, data: object, labels = {}): PolicyRequest => ({
  method: "POST",
  path: "/api/v1/namespaces/<namespace>/configmaps",
  body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels }, data },
});

/** Parameters that are there, or not, or are several. */
const withParams = (random: Random, count: number): PolicyCase[] =>
  Array.from({ length: count }, (_, index) => {
    const id = `params-${index}`;
    const parameterNotFoundAction = random.pick(["Allow", "Deny"]);
    const selector = { matchLabels: { limit: random.pick(["some", "none"]) } };
    const paramRef = random.pick([
      { name: "limits", parameterNotFoundAction },
      { name: "absent", parameterNotFoundAction },
      { name: "limits", namespace: id, parameterNotFoundAction },
      { name: "limits", namespace: "default", parameterNotFoundAction },
      { selector, parameterNotFoundAction },
    ]);
    return validatingCase(id, random, {
      objects: [limits("limits", { max: "4" }, { limit: "some" }), limits("others", { other: "1" })],
      spec: {
        failurePolicy: random.pick(["Fail", "Ignore"]),
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        matchConditions: random.chance(0.3)
          ? [{ name: "known", expression: "params != null && has(params.data)" }]
          : [],
        validations: [
          {
            expression: random.pick([
              "object.spec.?replicas.orValue(9) <= int(params.data.max)",
              "params == null || params.data.max == '4'",
              "params.data.other == '1'",
            ]),
            messageExpression: "'limit is ' + params.data.max",
          },
        ],
      },
      binding: random.chance(0.85) ? { paramRef } : {},
    });
  });

const rule = widgetRules[0];

/** What a policy is about: operations, names, scopes, selectors, exclusions, in the policy and in its binding. */
const constraints: readonly object[] = [
  { resourceRules: [{ ...rule, operations: ["CREATE"] }] },
  { resourceRules: [{ ...rule, operations: ["UPDATE"] }] },
  { resourceRules: [{ ...rule, operations: ["DELETE"] }] },
  { resourceRules: [{ ...rule, operations: ["*"] }] },
  { resourceRules: [{ ...rule, operations: ["CREATE"], resources: ["*"] }] },
  { resourceRules: [{ ...rule, operations: ["CREATE"], apiGroups: ["*"], apiVersions: ["*"] }] },
  { resourceRules: [{ ...rule, apiVersions: ["v2"] }] },
  { resourceRules: [{ ...rule, resources: ["widgets/status"] }] },
  { resourceRules: [{ ...rule, scope: "Cluster" }] },
  { resourceRules: [{ ...rule, scope: "Namespaced" }] },
  { resourceRules: [{ ...rule, resourceNames: ["matched-10"] }] },
  { resourceRules: widgetRules, excludeResourceRules: [{ ...rule, operations: ["CREATE"] }] },
  { resourceRules: widgetRules, excludeResourceRules: [{ ...rule, resourceNames: ["matched-12"] }] },
  { resourceRules: widgetRules, objectSelector: { matchLabels: { app: "matched-13" } } },
  { resourceRules: widgetRules, objectSelector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] } },
  {
    resourceRules: widgetRules,
    namespaceSelector: { matchExpressions: [{ key: "env", operator: "In", values: ["prod"] }] },
  },
  {
    resourceRules: widgetRules,
    namespaceSelector: { matchExpressions: [{ key: "env", operator: "NotIn", values: ["prod"] }] },
  },
  { resourceRules: widgetRules, matchPolicy: "Exact" },
];

const matched = (random: Random): PolicyCase[] =>
  constraints.flatMap((constraint, index) => [
    validatingCase(`matched-${index}`, random, {
      spec: { matchConstraints: constraint, validations: [{ expression: "false", message: "matched" }] },
    }),
    validatingCase(`narrowed-${index}`, random, {
      spec: { validations: [{ expression: "false" }] },
      binding: { matchResources: renamed(constraint, `narrowed-${index}`), validationActions: random.pick(actions) },
    }),
  ]);

/** The same with the name of another case; a selector of namespaces would take the binding out of its own. */
function renamed(constraint: object, id: string): object {
  const { namespaceSelector: _, ...rest } = Object.assign({ namespaceSelector: undefined }, constraint);
  // The text of a plain object is one again.
  return JSON.parse(JSON.stringify(rest).replaceAll(/matched-\d+/g, id)) as object;
}

export function validatingCases(random: Random): PolicyCase[] {
  return [
    ...eachTemplate(random),
    ...eachBroken(),
    ...composed(random, 60),
    ...withParams(random, 24),
    ...matched(random),
  ];
}
