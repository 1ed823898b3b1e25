import type { StructuralSchema } from "../kube/structural-schema.ts";
import type { ValidatingPolicySpec } from "../kube/validating-policy.ts";

/** Rules and policies to ask Kubernetes about; its answers are in testdata/policy-answers.json, in this order. */
export interface RuleQuestion {
  readonly schema: StructuralSchema;
  readonly object: object;
  readonly oldObject?: object;
}

export interface PolicyQuestion {
  readonly policy: ValidatingPolicySpec;
  readonly object: object;
  readonly oldObject?: object;
  readonly params?: object;
  readonly namespaceObject?: object;
}

const text: StructuralSchema = { type: "string" };
const props: Record<string, StructuralSchema> = {
  name: { type: "string", maxLength: 20 },
  replicas: { type: "integer" },
  ratio: { type: "number" },
  on: { type: "boolean" },
  when: { type: "string", format: "date-time" },
  day: { type: "string", format: "date" },
  wait: { type: "string", format: "duration" },
  data: { type: "string", format: "byte" },
  port: { "x-kubernetes-int-or-string": true },
  tags: { type: "array", items: text, maxItems: 10, "x-kubernetes-list-type": "set" },
  plain: { type: "array", items: text },
  labels: { type: "object", additionalProperties: text },
  mode: { type: "string", enum: ["a", "bb"] },
  items: {
    type: "array",
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string", maxLength: 10 }, size: { type: "integer" } },
    },
  },
  nested: {
    type: "object",
    properties: { a: { type: "object", properties: { b: text } }, "with-dash": text, namespace: text, "dot.ted": text },
  },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
};
const spec = {
  name: "abc",
  replicas: 3,
  ratio: 1,
  on: true,
  when: "2021-05-01T10:00:00Z",
  day: "2021-05-01",
  wait: "90m",
  data: "aGk=",
  port: 8080,
  tags: ["x", "y"],
  plain: ["x", "y"],
  labels: { app: "web", tier: "db" },
  mode: "a",
  items: [
    { name: "i1", size: 1 },
    { name: "i2", size: 5 },
  ],
  nested: { a: { b: "c" }, "with-dash": "d", namespace: "ns", "dot.ted": "e" },
  free: { x: 1 },
};
const thing = (s: object): object => ({
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "thing", labels: { l: "1" } },
  spec: s,
});
const variants = [
  thing(spec),
  thing({
    ...spec,
    name: "xyz",
    replicas: 9,
    on: false,
    port: "http",
    tags: ["y", "x"],
    items: [{ name: "i2", size: 4 }],
  }),
  thing({ name: "only" }),
  thing({ ...spec, labels: {}, plain: [], items: [], nested: {} }),
];
const rules = [
  "self.spec.replicas > 2",
  "self.spec.replicas < 0",
  "self.spec.name == 'abc'",
  "self.spec.name.startsWith('a') && self.spec.replicas >= 3",
  "self.spec.ratio / 2.0 == 0.5",
  "self.spec.ratio == 1",
  "self.spec.on",
  "!self.spec.on",
  "self.spec.when > timestamp('2020-01-01T00:00:00Z')",
  "self.spec.day == timestamp('2021-05-01T00:00:00Z')",
  "self.spec.wait > duration('1h')",
  "self.spec.data == b'hi'",
  "type(self.spec.port) == int ? self.spec.port > 1000 : self.spec.port == 'http'",
  "self.spec.port > 10",
  "self.spec.tags == ['y','x']",
  "self.spec.tags + ['x'] == self.spec.tags",
  "self.spec.plain == ['y','x']",
  "size(self.spec.plain) == 2",
  "self.spec.labels['app'] == 'web'",
  "self.spec.labels.app == 'web'",
  "'app' in self.spec.labels",
  "self.spec.labels.all(k, k.size() < 5)",
  "self.spec.labels.all(k, self.spec.labels[k] != '')",
  "self.spec.mode in ['a','b']",
  "self.spec.items.exists(i, i.size > 4)",
  "self.spec.items.all(i, i.size < 5)",
  "self.spec.items.map(i, i.size).sum() == 6",
  "self.spec.items.exists_one(i, i.name == 'i1')",
  "self.spec.nested.a.b == 'c'",
  "self.spec.nested.with__dash__dash == 'd'",
  "self.spec.nested.__namespace__ == 'ns'",
  "self.spec.nested.dot__dot__ted == 'e'",
  "has(self.spec.nested.a)",
  "has(self.spec.free) && has(self.spec.items)",
  "self.metadata.name == 'thing'",
  "self.metadata.labels.l == '1'",
  "self.spec.free.x == 1",
  "self.spec.unknown == 1",
  "self.spec.name == 1",
  "self.spec.name",
  "self.spec.name +",
  "oldSelf.spec.name == self.spec.name",
  "self.spec.replicas >= oldSelf.spec.replicas",
  "self.spec.items.all(i, oldSelf.spec.items.exists(o, o.name == i.name))",
  "self.spec.plain.all(p, self.spec.plain.exists(q, p == q))",
  "self.spec.name.matches('^[a-z]+$')",
  "self.spec.plain.isSorted()",
  "self.spec.?nested.?a.?b.orValue('') == 'c'",
  "self.kind == 'Thing' && self.apiVersion == 'example.com/v1'",
  "self.spec.items[0].name == 'i1'",
  "self.spec.items[5].name == 'i1'",
  "self.spec.name.substring(5) == ''",
  "1 / (self.spec.replicas - 3) > 0",
  "duration('x') == self.spec.wait",
  "self.spec.labels == {'app':'web','tier':'db'}",
  "self.spec.items == [{'name':'i2','size':5},{'name':'i1','size':1}]",
  "self.spec.nested == self.spec.nested",
  "int(self.spec.name) > 1",
  "self.spec.plain.map(p, self.spec.plain.map(q, p + q)).size() > 0",
  "self.spec.replicas in [1,2,3]",
];
export const ruleQuestions: RuleQuestion[] = [];
for (const rule of rules) {
  for (const [i, o] of variants.entries()) {
    const old = i === 1 ? variants[0] : i === 2 ? variants[1] : undefined;
    ruleQuestions.push({
      schema: {
        type: "object",
        properties: { spec: { type: "object", properties: props } },
        "x-kubernetes-validations": [{ rule }],
      },
      object: o,
      ...(old ? { oldObject: old } : {}),
    });
  }
}
const withRules = (path: string, rules: object[]): StructuralSchema => ({
  type: "object",
  properties: {
    spec: { type: "object", properties: { ...props, [path]: { ...props[path], "x-kubernetes-validations": rules } } },
  },
});
const fieldRules: [string, object[]][] = [
  ["name", [{ rule: "self.size() > 3", message: " too short " }]],
  ["name", [{ rule: "self == 'q'", messageExpression: "'got ' + self" }]],
  ["name", [{ rule: "self == 'q'", messageExpression: "'a\\nb'", message: "fallback" }]],
  ["name", [{ rule: "self == 'q'", messageExpression: "'  '", message: "m" }]],
  ["name", [{ rule: "self == oldSelf" }]],
  ["name", [{ rule: "oldSelf.orValue('zz') == self", optionalOldSelf: true }]],
  ["name", [{ rule: "self == 'q'", reason: "FieldValueForbidden", message: "no" }]],
  ["name", [{ rule: "self == 'q'", reason: "FieldValueRequired", message: "req" }]],
  ["name", [{ rule: "self == 'q'", reason: "FieldValueDuplicate", message: "dup" }]],
  ["replicas", [{ rule: "self == 100" }]],
  ["ratio", [{ rule: "self > 5.0" }]],
  ["on", [{ rule: "!self" }]],
  ["items", [{ rule: "self.all(i, i.size > 3)", message: "small" }]],
  ["labels", [{ rule: "self.size() == 7" }]],
  ["nested", [{ rule: "self.a.b == 'zzz'", fieldPath: ".a.b", message: "deep" }]],
  ["nested", [{ rule: "self.a.b == 'zzz'", fieldPath: ".a", reason: "FieldValueForbidden" }]],
  ["port", [{ rule: "self == 'x'" }]],
  ["when", [{ rule: "self < timestamp('2000-01-01T00:00:00Z')" }]],
  ["tags", [{ rule: "'z' in self" }, { rule: "self.size() == 1", message: "one" }]],
  ["mode", [{ rule: "self != 'a'" }]],
];
for (const [p, rs] of fieldRules)
  for (const [i, o] of variants.entries()) {
    const old = i === 1 ? variants[0] : i === 0 ? variants[0] : undefined;
    ruleQuestions.push({ schema: withRules(p, rs), object: o, ...(old ? { oldObject: old } : {}) });
  }
const itemRules = [
  { rule: "self.size >= oldSelf.size", message: "shrunk" },
  { rule: "self.name != 'i2'" },
  { rule: "self.size > 100", message: "tiny" },
];
for (const r of itemRules)
  for (const [i, o] of variants.entries())
    ruleQuestions.push({
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              ...props,
              items: { ...props["items"], items: { ...props["items"]?.items, "x-kubernetes-validations": [r] } },
            },
          },
        },
      },
      object: o,
      ...(i % 2 ? { oldObject: variants[0] } : {}),
    });
for (const o of variants)
  ruleQuestions.push({
    schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            ...props,
            labels: {
              type: "object",
              additionalProperties: { type: "string", "x-kubernetes-validations": [{ rule: "self.size() < 3" }] },
            },
            plain: { type: "array", items: { type: "string", "x-kubernetes-validations": [{ rule: "self == 'x'" }] } },
          },
        },
      },
    },
    object: o,
  });
export const policyQuestions: PolicyQuestion[] = [];
const ask = (policy: ValidatingPolicySpec, input: Omit<PolicyQuestion, "policy">): void => {
  policyQuestions.push({ policy, ...input });
};
const pobj = {
  metadata: { name: "web", labels: { app: "x" } },
  spec: {
    replicas: 7,
    containers: [
      { name: "a", image: "nginx:1", resources: { limits: { memory: "9Gi" } } },
      { name: "b", image: "redis" },
    ],
  },
};
const ns = { metadata: { name: "default", labels: { env: "prod" } } };
const exprs = [
  "object.spec.replicas < 5",
  "object.spec.replicas > 5",
  "object.spec.missing == 1",
  "has(object.spec.missing)",
  "object.metadata.labels['app'] == 'x'",
  "object.spec.containers.all(c, c.image.contains(':'))",
  "object.spec.containers.all(c, has(c.resources))",
  "object.spec.containers.exists(c, c.name == 'b')",
  "request.userInfo.username == 'ann'",
  "request.operation == 'CREATE'",
  "'dev' in request.userInfo.groups",
  "oldObject == null",
  "oldObject.spec.replicas == object.spec.replicas",
  "namespaceObject.metadata.labels.env == 'prod'",
  "namespaceObject.metadata.name == request.namespace",
  "params == null",
  "params.max > object.spec.replicas",
  "variables.n > 3",
  "variables.broken == 1",
  "variables.nope == 1",
  "object.spec.replicas + 'x' == ''",
  "object.spec.replicas",
  "'str'",
  "object.spec.replicas <",
  "quantity(object.spec.containers[0].resources.limits.memory).isGreaterThan(quantity('8Gi'))",
  "object.spec.containers[5].name == ''",
  "object.spec.containers.map(c, c.name) == ['a','b']",
  "1/0 == 1",
  "request.kind.kind == 'Thing' && request.resource.resource == 'things'",
  "request.name == 'thing'",
  "request.dryRun",
  "object == oldObject",
  "size(object.spec.containers) == 2",
  "object.spec.containers.filter(c, c.image.startsWith('nginx')).size() == 1",
  "authorizer.group('').resource('pods').check('get').allowed()",
  "timestamp(object.metadata.creationTimestamp) > timestamp('2020-01-01T00:00:00Z')",
  "object.?spec.?x.orValue(true)",
  "[1,2].exists(x, x == object.spec.replicas - 5)",
  "object.metadata.name.matches('^w')",
  "object.kind == 'x' || true",
];
const vars = [
  { name: "n", expression: "size(object.metadata.name) + 1" },
  { name: "broken", expression: "object.nothing.here" },
  { name: "twice", expression: "variables.n * 2" },
];
const firstInput = { object: pobj, namespaceObject: ns, params: { max: 10 } };
const lastInput = { object: { metadata: { name: "w" }, spec: {} }, params: { max: 1 } };
const inputs: Omit<PolicyQuestion, "policy">[] = [
  firstInput,
  { object: pobj, oldObject: { ...pobj, spec: { ...pobj.spec, replicas: 1 } }, namespaceObject: ns },
  lastInput,
];
for (const e of exprs)
  for (const [i, inp] of inputs.entries())
    ask(
      {
        failurePolicy: i === 2 ? "Ignore" : "Fail",
        paramKind: { apiVersion: "v1", kind: "X" },
        variables: vars,
        validations: [{ expression: e }],
      },
      inp,
    );
for (const e of exprs.slice(0, 30)) {
  ask(
    {
      failurePolicy: "Fail",
      paramKind: { apiVersion: "v1", kind: "X" },
      variables: vars,
      matchConditions: [{ name: "m", expression: e }],
      validations: [{ expression: "false", message: " custom message " }],
    },
    firstInput,
  );
  ask(
    {
      failurePolicy: "Ignore",
      paramKind: { apiVersion: "v1", kind: "X" },
      variables: vars,
      matchConditions: [
        { name: "m", expression: e },
        { name: "f", expression: "object.metadata.name == 'web'" },
      ],
      validations: [{ expression: "false" }],
    },
    lastInput,
  );
}
const msgs = [
  "'replicas: ' + string(object.spec.replicas)",
  "'%s has %d'.format([object.metadata.name, object.spec.replicas])",
  "object.spec.missing",
  "'a\\nb'",
  "''",
  "'  x  '",
  "string(variables.twice)",
  "1",
  "params.max == 10 ? 'ten' : 'other'",
  "object.metadata.name",
  "authorizer.path('/x').check('get').reason()",
];
for (const m of msgs)
  for (const inp of inputs)
    ask(
      {
        failurePolicy: "Fail",
        paramKind: { apiVersion: "v1", kind: "X" },
        variables: vars,
        validations: [
          { expression: "false", messageExpression: m, message: "fallback", reason: "Forbidden" },
          { expression: "true", messageExpression: m },
        ],
      },
      inp,
    );
const ann = [
  "'v: ' + object.metadata.name",
  "object.spec.missing",
  "''",
  "null",
  "'  s '",
  "1",
  "string(object.spec.replicas)",
  "variables.twice > 5 ? 'big' : 'small'",
];
for (const a of ann)
  for (const fp of ["Fail", "Ignore"] as const)
    ask(
      {
        failurePolicy: fp,
        variables: vars,
        validations: [{ expression: "true" }],
        auditAnnotations: [
          { key: "k", valueExpression: a },
          { key: "z", valueExpression: "'const'" },
        ],
      },
      firstInput,
    );
ask(
  {
    failurePolicy: "Fail",
    validations: [
      { expression: "object.l.all(a, object.l.all(b, object.l.all(c, a+b+c >= 0)))" },
      { expression: "true" },
    ],
  },
  { object: { l: Array.from({ length: 150 }, (_, i) => i) } },
);
ask(
  {
    failurePolicy: "Fail",
    matchConditions: [
      { name: "a", expression: "object.x == 1" },
      { name: "b", expression: "object.y == 1" },
    ],
    validations: [{ expression: "false" }],
  },
  { object: {} },
);
