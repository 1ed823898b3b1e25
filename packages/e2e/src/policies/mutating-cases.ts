import { boundPolicy, type Installation, type PolicyCase, type PolicyRequest } from "./policy-case.ts";
import type { Random } from "./random.ts";
import { builtinCases } from "./builtin-cases.ts";
import { createWidget, randomSpec, replaceSpec, widgetWriteRules, widgets } from "./widget.ts";

type Template = (random: Random) => string;

const text: Template = (random) => random.pick(["'one'", "'two'", "request.operation"]);
const word: Template = (random) => random.pick([text(random), "object.metadata.name"]);
const item: Template = (random) =>
  `Object.spec.items{name: 'i${1 + random.below(4)}', ${random.pick([
    () => `size: ${random.below(10)}`,
    () => `env: [Object.spec.items.env{name: '${random.pick(["A", "D"])}', value: ${word(random)}}]`,
    () => `?size: object.spec.?replicas`,
  ])()}}`;
const port: Template = (random) =>
  `Object.spec.ports{port: ${random.pick([80, 8080])}, protocol: '${random.pick(["TCP", "UDP"])}', note: ${word(random)}}`;

/** Fields of an `Object.spec{…}`: merged, replaced, or refused because they are atomic. */
const specFields: readonly Template[] = [
  (random) => `replicas: ${random.pick(["7", "object.spec.?replicas.orValue(1) + 1", "size(object.metadata.name)"])}`,
  (random) => `name: ${word(random)}`,
  (random) => `ratio: ${random.pick(["1.5", "double(object.spec.?replicas.orValue(2))"])}`,
  (random) => `enabled: ${random.pick(["true", "!object.spec.?enabled.orValue(false)"])}`,
  (random) => `tags: ['${random.pick(["a", "z"])}', 'y']`,
  (random) => `labels: {'app': ${text(random)}, 'new/key': 'x'}`,
  (random) => `items: [${item(random)}]`,
  (random) => `items: [Object.spec.items{name: 'first'}, ${item(random)}]`,
  (random) => `ports: [${port(random)}]`,
  (random) => `nested: Object.spec.nested{a: Object.spec.nested.a{b: ${word(random)}}}`,
  (random) => `nested: Object.spec.nested{a: Object.spec.nested.a{c: ${random.below(9)}}}`,
  (random) => `port: ${random.pick(["80", "'http'"])}`,
  (random) => `?memory: ${random.pick(["object.spec.?memory", "optional.none()", "optional.of('4Gi')"])}`,
  (random) => `free: Object.spec.free{y: Object.spec.free.y{z: ${random.pick(["1", "[1, 2]", "'t'"])}}}`,
];

/** What servers refuse, each in its words. */
const refusedFields: readonly string[] = [
  "notes: ['replaced']",
  "sealed: {'key': 'three'}",
  "fixed: Object.spec.fixed{b: 'three'}",
  "fixed: {'b': 'three'}",
  "nested: Object.spec.nested{a: Object.spec.wrong{b: 'x'}}",
  "nested: Object.spec.other{}",
  "items: [Object.spec{name: 'x'}]",
  "replicas: 'many'",
  "missing: 'field'",
  "items: [Object.spec.items{size: 1}]",
  "tags: ['a', 'a']",
  "name: null",
  "name: object.spec.nothing",
  "replicas: 1 / 0",
  "free: Object.spec.free{notes: ['x']}",
  "ratio: 1",
  "tags: [1]",
];

const metadata: Template = (random) =>
  random.pick([
    () => `metadata: Object.metadata{labels: {'added': ${word(random)}}}`,
    () => `metadata: Object.metadata{labels: Object.metadata.labels{app: ${word(random)}}}`,
    () => `metadata: Object.metadata{annotations: Object.metadata.annotations{note: ${word(random)}}}`,
    () => `metadata: Object.metadata{finalizers: ['example.com/kept']}`,
  ])();

const configuration = (fields: readonly string[], random: Random): string => {
  const spec = `spec: Object.spec{${fields.join(", ")}}`;
  return `Object{${[...(random.chance(0.3) ? [metadata(random)] : []), spec].join(", ")}}`;
};

const apply = (expression: string): object => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
const patch = (expression: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression } });

const tagIf = (condition: string, tag = "ready"): object =>
  apply(`${condition} ? Object{spec: Object.spec{tags: ['${tag}']}} : Object{}`);
const enable = apply("Object{spec: Object.spec{enabled: true}}");
const count = apply("Object{spec: Object.spec{replicas: object.spec.?replicas.orValue(0) + 1}}");

const operation: Template = (random) =>
  random.pick<() => string>([
    () => `JSONPatch{op: 'add', path: '/spec/name', value: ${word(random)}}`,
    () => `JSONPatch{op: 'replace', path: '/spec/replicas', value: ${random.below(9)}}`,
    () => `JSONPatch{op: 'remove', path: '/spec/${random.pick(["tags", "missing", "items/0"])}'}`,
    () => `JSONPatch{op: 'add', path: '/spec/notes', value: ['x', ${text(random)}]}`,
    () => `JSONPatch{op: 'add', path: '/spec/items/-', value: Object.spec.items{name: 'added', size: 3}}`,
    () => `JSONPatch{op: 'add', path: '/spec/items/${random.below(3)}', value: {'name': 'put'}}`,
    () =>
      `JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/x'), value: ${word(random)}}`,
    () => `JSONPatch{op: 'test', path: '/spec/name', value: ${random.pick(["'abc'", "'web'"])}}`,
    () => `JSONPatch{op: 'copy', from: '/metadata/name', path: '/spec/name'}`,
    () => `JSONPatch{op: 'move', from: '/spec/version', path: '/spec/name'}`,
    () =>
      `JSONPatch{op: 'add', path: '/spec/nested', value: Object.spec.nested{a: Object.spec.nested.a{b: 'patched'}}}`,
    () => `JSONPatch{op: 'add', path: '/spec/labels', value: {'a': 'b'}}`,
    () =>
      `JSONPatch{op: 'add', path: '/spec/free', value: {'list': [dyn(1), dyn(2.5), dyn(true), dyn(null), dyn({'x': 'y'})]}}`,
    () => `JSONPatch{op: 'add', path: '/spec/a/b/c', value: 1}`,
    () => `JSONPatch{op: '${random.pick(["none", "REPLACE"])}', path: '/spec/name', value: 'x'}`,
    () => `JSONPatch{op: 'add', path: '${random.pick(["spec/name", ""])}', value: 'x'}`,
    () => `JSONPatch{op: 'replace', path: '/spec/replicas', value: 'text'}`,
    () => `JSONPatch{op: 'add', path: '/spec/ratio', value: object.spec.?ratio.orValue(0.25)}`,
  ])();

const operations: Template = (random) =>
  random.chance(0.2)
    ? `object.spec.?tags.orValue([]).map(t, JSONPatch{op: 'add', path: '/metadata/labels/' + t, value: t})`
    : `[${Array.from({ length: 1 + random.below(3) }, () => operation(random)).join(", ")}]`;

interface CaseSpec {
  readonly policies: readonly Installation[];
  readonly objects?: readonly PolicyRequest[];
}

function mutatingCase(id: string, random: Random, { policies, objects }: CaseSpec): PolicyCase {
  return {
    id,
    objects: [createWidget("old", randomSpec(random, 0.9)), ...(objects ?? [])],
    policies,
    requests: [
      createWidget(id, randomSpec(random)),
      createWidget(`${id}-full`, randomSpec(random, 1)),
      { method: "PATCH", path: `${widgets}/old`, body: replaceSpec(randomSpec(random)) },
    ],
  };
}

const policy = (id: string, spec: object, name = id, binding?: object): Installation[] =>
  boundPolicy("mutating", name, {
    namespace: id,
    spec: { matchConstraints: { resourceRules: widgetWriteRules }, reinvocationPolicy: "Never", ...spec },
    ...(binding === undefined ? {} : { binding }),
  });

const many = (count: number, make: (index: number) => PolicyCase): PolicyCase[] =>
  Array.from({ length: count }, (_, index) => make(index));

const applied = (random: Random): PolicyCase[] => [
  ...specFields.map((field, index) =>
    mutatingCase(`apply-${index}`, random, {
      policies: policy(`apply-${index}`, { mutations: [apply(configuration([field(random)], random))] }),
    }),
  ),
  ...refusedFields.map((field, index) =>
    mutatingCase(`refused-${index}`, random, {
      policies: policy(`refused-${index}`, {
        failurePolicy: index % 4 === 3 ? "Ignore" : "Fail",
        mutations: [apply(`Object{spec: Object.spec{${field}}}`)],
      }),
    }),
  ),
];

const atomic = apply("Object{spec: Object.spec{notes: ['x']}}");
const absent = patch("[JSONPatch{op: 'remove', path: '/spec/none'}]");
const missing = apply("Object{spec: Object.spec{name: object.none}}");

/** Several mutations, of which some fail, each for its own reason. */
const failing = (random: Random): PolicyCase[] =>
  [
    [atomic, count],
    [count, atomic],
    [atomic, atomic],
    [atomic, missing],
    [missing, count, absent],
    [absent, atomic, count],
  ].flatMap((mutations, index) =>
    ["Fail", "Ignore"].map((failurePolicy) => {
      const id = `failing-${index}-${failurePolicy.toLowerCase()}`;
      return mutatingCase(id, random, { policies: policy(id, { failurePolicy, mutations }) });
    }),
  );

const patched = (random: Random): PolicyCase[] =>
  many(36, (index) =>
    mutatingCase(`patch-${index}`, random, {
      policies: policy(`patch-${index}`, {
        failurePolicy: random.pick(["Fail", "Fail", "Ignore"]),
        mutations: [patch(operations(random))],
      }),
    }),
  );

const distinct = (fields: readonly string[]): string[] => [
  ...new Map(fields.map((field) => [field.replace(/^\?/, "").split(":")[0], field])).values(),
];

/** Several mutations, variables, conditions and parameters in one policy. */
const combined = (random: Random): PolicyCase[] =>
  many(30, (index) => {
    const id = `combined-${index}`;
    const limits = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "limits" }, data: { max: "3" } };
    const mutations = Array.from({ length: 1 + random.below(3) }, () =>
      random.chance(0.6)
        ? apply(configuration(distinct(random.some(specFields, 0.2).map((field) => field(random))), random))
        : patch(operations(random)),
    );
    const uses = random.pick([
      apply("Object{spec: Object.spec{replicas: variables.wanted}}"),
      apply("Object{spec: Object.spec{replicas: int(params.data.max)}}"),
      patch("[JSONPatch{op: 'add', path: '/spec/name', value: string(variables.wanted)}]"),
      apply("has(object.spec.name) ? Object{} : Object{spec: Object.spec{name: 'default'}}"),
    ]);
    const parameterNotFoundAction = random.pick(["Allow", "Deny"]);
    return mutatingCase(id, random, {
      objects: [{ method: "POST", path: "/api/v1/namespaces/<namespace>/configmaps", body: limits }],
      policies: policy(
        id,
        {
          failurePolicy: random.pick(["Fail", "Ignore"]),
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
          variables: [{ name: "wanted", expression: "object.spec.?replicas.orValue(1) * 2" }],
          matchConditions: random.chance(0.4)
            ? [
                {
                  name: "fits",
                  expression: random.pick([
                    "has(object.spec.tags)",
                    "object.spec.replicas < 5",
                    "request.operation == 'CREATE'",
                  ]),
                },
              ]
            : [],
          mutations: [...mutations, uses],
        },
        id,
        { paramRef: { name: random.pick(["limits", "limits", "absent"]), parameterNotFoundAction } },
      ),
    });
  });

/** Two policies that meet on one object, `b` after `a` or before it: Kubernetes promises no order. */
const meetings: readonly { readonly a: object; readonly b: object }[] = [
  // What the one waits for, the other does; it sees it at the latest when it is asked again.
  {
    a: { reinvocationPolicy: "IfNeeded", mutations: [tagIf("object.spec.?enabled.orValue(false)")] },
    b: { mutations: [enable] },
  },
  {
    a: { mutations: [enable] },
    b: { reinvocationPolicy: "IfNeeded", mutations: [tagIf("object.spec.?enabled.orValue(false)")] },
  },
  {
    a: { reinvocationPolicy: "IfNeeded", mutations: [tagIf("'b' in object.spec.?tags.orValue([])", "a")] },
    b: { reinvocationPolicy: "IfNeeded", mutations: [tagIf("true", "b")] },
  },
  // Each acts once.
  { a: { mutations: [count] }, b: { mutations: [apply("Object{spec: Object.spec{name: 'n'}}")] } },
  { a: { mutations: [count] }, b: { mutations: [count] } },
  // Nothing changes, so nobody is asked again.
  {
    a: { reinvocationPolicy: "IfNeeded", mutations: [count] },
    b: { mutations: [apply("Object{}")] },
  },
  { a: { mutations: [count] }, b: { matchConditions: [{ name: "never", expression: "false" }], mutations: [count] } },
];

const reinvoked = (random: Random): PolicyCase[] =>
  meetings.map(({ a, b }, index) => {
    const id = `again-${index}`;
    const follower = boundPolicy("validating", `${id}-check`, {
      namespace: id,
      spec: {
        matchConstraints: { resourceRules: widgetWriteRules },
        validations: [
          { expression: "false", messageExpression: "'sees ' + string(object.spec.?replicas.orValue(-1))" },
        ],
      },
      binding: { validationActions: ["Warn"] },
    });
    return mutatingCase(id, random, {
      policies: [...policy(id, a, `${id}-a`), ...policy(id, b, `${id}-b`), ...follower],
    });
  });

export function mutatingCases(random: Random): PolicyCase[] {
  return [
    ...applied(random),
    ...patched(random),
    ...failing(random),
    ...combined(random),
    ...reinvoked(random),
    ...builtinCases(),
  ];
}
