import type { Installation, PolicyCase, PolicyRequest } from "./policy-case.ts";
import type { Random } from "./random.ts";

type Schema = Readonly<Record<string, unknown>>;
type Rule = Readonly<Record<string, unknown>>;

interface Field {
  readonly schema: Schema;
  readonly rules: readonly ((random: Random) => string)[];
  readonly messages: readonly string[];
  readonly values: readonly unknown[];
}

const text = { type: "string", maxLength: 10 };
const item = { type: "object", required: ["name"], properties: { name: text, size: { type: "integer" } } };
const compare = (random: Random): string => random.pick(["<", "<=", ">", ">=", "==", "!="]);

/** Fields of every type, what rules ask about them, and values to ask about. */
const fields: Readonly<Record<string, Field>> = {
  count: {
    schema: { type: "integer" },
    rules: [
      (random) => `self ${compare(random)} ${random.below(9)}`,
      (random) => `self ${compare(random)} oldSelf`,
      (random) => `10 / (self - ${random.below(5)}) > 1`,
      () => "self in [1, 2, 3]",
    ],
    messages: ["'got %d'.format([self])", "string(self * 2)"],
    values: [0, 1, 4, 7],
  },
  ratio: {
    schema: { type: "number" },
    rules: [(random) => `self ${compare(random)} ${random.pick(["1.5", "2.0"])}`, () => "self == 2.0"],
    messages: ["string(self)"],
    values: [1.5, 2, -0.25],
  },
  name: {
    schema: text,
    rules: [
      (random) => `self.${random.pick(["startsWith", "endsWith", "contains"])}('${random.pick(["a", "b"])}')`,
      (random) => `self.matches('${random.pick(["^[a-z]+$", "^.{3}$"])}')`,
      (random) => `self.size() ${compare(random)} ${random.below(6)}`,
      () => "self == oldSelf",
      () => "isQuantity(self) && quantity(self).isGreaterThan(quantity('1Gi'))",
      () => "!format.dns1123Label().validate(self).hasValue()",
      () => "ip(self).family() == 4",
      () => "int(self) > 3",
    ],
    messages: ["'not ' + self", "self.size() > 3 ? 'long' : ''", "self + '\\n' + self", "self.substring(3)"],
    values: ["abc", "bcd-e", "2Gi", "10.1.2.3", "4", "ö"],
  },
  enabled: {
    schema: { type: "boolean" },
    rules: [() => "self", () => "!self", () => "self || !oldSelf"],
    messages: ["self ? 'on' : 'off'"],
    values: [true, false],
  },
  when: {
    schema: { type: "string", format: "date-time" },
    rules: [
      () => "self > timestamp('2021-01-01T00:00:00Z')",
      () => "self.getFullYear() == 2020",
      () => "self >= oldSelf",
    ],
    messages: ["string(self)"],
    values: ["2020-02-29T23:30:00Z", "2022-05-01T10:00:00+02:00"],
  },
  wait: {
    schema: { type: "string", format: "duration" },
    rules: [() => "self > duration('1h')", () => "self.getMinutes() == 90"],
    messages: ["string(self)"],
    values: ["90m", "10s"],
  },
  port: {
    schema: { "x-kubernetes-int-or-string": true },
    rules: [
      () => "type(self) == int ? self > 1000 : self == 'http'",
      () => "self == 80",
      () => "string(self).size() < 4",
    ],
    messages: ["type(self) == int ? 'number' : 'text'"],
    values: [80, 8080, "http"],
  },
  tags: {
    schema: { type: "array", maxItems: 4, items: text, "x-kubernetes-list-type": "set" },
    rules: [
      () => "'a' in self",
      () => "self == ['b', 'a']",
      () => "self.all(t, t in oldSelf)",
      () => "sets.contains(self, ['a'])",
      (random) => `size(self) ${compare(random)} ${random.below(4)}`,
    ],
    messages: ["self.size() == 1 ? self[0] : 'many'"],
    values: [["a"], ["a", "b"], ["c"], []],
  },
  plain: {
    schema: { type: "array", maxItems: 4, items: { type: "integer" } },
    rules: [
      () => "self.isSorted()",
      () => "self.sum() < 10",
      () => "self.all(x, x > 0)",
      () => "self[1] == 2",
      () => "self == oldSelf",
    ],
    messages: ["string(self.max())"],
    values: [[1, 2, 3], [3, 2], [0], [], [9, 9]],
  },
  items: {
    schema: {
      type: "array",
      maxItems: 3,
      items: item,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    rules: [
      (random) => `self.all(i, has(i.size) && i.size ${compare(random)} ${random.below(5)})`,
      () => "oldSelf.all(o, self.exists(s, s.name == o.name))",
      () => "self.exists_one(i, i.name == 'x')",
      () => "self.size() == 0 || self[0].name == 'x'",
      () => "self.exists(i, has(i.size) && i.size > 4)",
    ],
    messages: ["'%d items'.format([self.size()])"],
    values: [[{ name: "x", size: 1 }], [{ name: "x", size: 4 }, { name: "y" }], [{ name: "y", size: 9 }], []],
  },
  labels: {
    schema: { type: "object", maxProperties: 3, additionalProperties: text },
    rules: [
      () => "self.all(k, k.startsWith('a'))",
      () => "'app' in self && self['app'] == 'web'",
      () => "self.exists(k, self[k] == 'db')",
      () => "oldSelf.all(k, k in self)",
      () => "self.app == 'web'",
    ],
    messages: ["'%d keys'.format([self.size()])"],
    values: [{ app: "web" }, { app: "db", b: "c" }, {}],
  },
  nested: {
    schema: {
      type: "object",
      properties: { min: { type: "integer" }, max: { type: "integer" }, "with-dash": text, namespace: text },
    },
    rules: [
      () => "self.min <= self.max",
      () => "has(self.min) || has(self.max)",
      () => "self.?min.orValue(0) < 2",
      () => "self.with__dash__dash == 'd' || self.__namespace__ == 'n'",
      () => "!has(oldSelf.max) || has(self.max)",
    ],
    messages: ["'%d > %d'.format([self.min, self.max])"],
    values: [{ min: 1, max: 2 }, { min: 3, max: 2 }, { max: 1 }, { "with-dash": "d" }, {}],
  },
  free: {
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    rules: [() => "self == oldSelf", () => "true"],
    messages: ["'free'"],
    values: [{ x: 1 }, {}],
  },
};

function randomRule(random: Random, name: string, { rules, messages }: Field): Rule {
  const rule = random.pick(rules)(random);
  // Going through what an optional holds has no limit at worst, and would be refused for its cost.
  const optional = random.chance(0.3) && /\boldSelf\b(?!\.all)/.test(rule);
  return {
    rule: optional ? rule.replaceAll("oldSelf", `oldSelf.value()`) : rule,
    ...(optional ? { optionalOldSelf: true } : {}),
    ...(random.chance(0.3) ? { message: `${name} is not right` } : {}),
    ...(random.chance(0.5) ? { messageExpression: random.pick(messages) } : {}),
    ...(random.chance(0.3)
      ? {
          reason: random.pick([
            "FieldValueForbidden",
            "FieldValueInvalid",
            "FieldValueRequired",
            "FieldValueDuplicate",
          ]),
        }
      : {}),
    ...(name === "nested" && random.chance(0.5) ? { fieldPath: random.pick([".min", ".max", "['with-dash']"]) } : {}),
  };
}

/** Rules of elements, which are compared with the element that was there under the same key. */
const elementRules: Readonly<Record<string, readonly Rule[]>> = {
  items: [
    { rule: "!has(self.size) || self.size >= oldSelf.?size.orValue(0)", message: "shrunk" },
    { rule: "self.name != 'y'" },
  ],
  tags: [{ rule: "self.size() == 1" }],
  plain: [{ rule: "self < 5", messageExpression: "string(self)" }],
};

function fieldSchema(random: Random, name: string, field: Field): Schema {
  const own = Array.from({ length: 1 + random.below(2) }, () => randomRule(random, name, field));
  const schema = { ...field.schema, "x-kubernetes-validations": own };
  const forElements = elementRules[name];
  if (forElements === undefined || random.chance(0.5)) return schema;
  const items = { ...(field.schema["items"] as object), "x-kubernetes-validations": [random.pick(forElements)] };
  return { ...schema, items };
}

const definitionOf = (name: string, properties: Schema, rules: readonly Rule[] = []): Installation["body"] => ({
  metadata: { name: `${name}s.rules.example.com` },
  spec: {
    group: "rules.example.com",
    scope: "Namespaced",
    names: { plural: `${name}s`, singular: name, kind: name, listKind: `${name}list` },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties } },
            ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules }),
          },
        },
      },
    ],
  },
});

/** Objects with one field each: made, and changed where the rules let them be. */
function lifeOf(kind: string, name: string, field: Field, random: Random): PolicyRequest[] {
  const path = `/apis/rules.example.com/v1/namespaces/<namespace>/${kind}s`;
  return field.values.flatMap((value, index): PolicyRequest[] => {
    const metadata = { name: `${name}-${index}` };
    const changed = random.pick(field.values);
    return [
      { method: "POST", path, body: { apiVersion: "rules.example.com/v1", kind, metadata, spec: { [name]: value } } },
      {
        method: "PATCH",
        path: `${path}/${metadata.name}`,
        body: [{ op: "replace", path: `/spec/${name}`, value: changed }],
      },
    ];
  });
}

/** One kind with rules on each of its fields; every field is asked about by itself. */
const ruled = (random: Random, count: number): PolicyCase[] =>
  Array.from({ length: count }, (_, index) => {
    const kind = `ruled${index}`;
    const schemas = Object.entries(fields).map(([name, field]) => [name, fieldSchema(random, name, field)] as const);
    const rootRules = [
      { rule: "self.metadata.name.size() < 9", message: "long name" },
      {
        rule: "self.spec == oldSelf.spec || !has(self.spec.enabled)",
        fieldPath: ".spec.enabled",
        reason: "FieldValueForbidden",
      },
    ];
    return {
      id: kind,
      policies: [
        {
          plural: "customresourcedefinitions",
          body: definitionOf(kind, Object.fromEntries(schemas), random.some(rootRules)),
        },
      ],
      requests: Object.entries(fields).flatMap(([name, field]) => lifeOf(kind, name, field, random)),
    };
  });

/** Rules that no server may store. */
const brokenRules: readonly (readonly [field: string, rule: Rule])[] = [
  ["count", { rule: "self.x > 1" }],
  ["count", { rule: "self + 1" }],
  ["count", { rule: "self >" }],
  ["count", { rule: " " }],
  ["count", { rule: "self > 1", message: "two\nlines" }],
  ["count", { rule: "self > 1", message: " " }],
  ["count", { rule: "self > 1\n|| true" }],
  ["count", { rule: "self > 1", messageExpression: "self" }],
  ["count", { rule: "self > 1", messageExpression: " " }],
  ["count", { rule: "self > 1", reason: "Because" }],
  ["count", { rule: "self > 1", fieldPath: ".x" }],
  ["count", { rule: "self > 1", optionalOldSelf: true }],
  ["count", { rule: "self > oldSelf.value()" }],
  ["nested", { rule: "self.minn > 1" }],
  ["nested", { rule: "self.min > 1", fieldPath: ".mid" }],
  ["nested", { rule: "self.min > 1", fieldPath: "min" }],
  ["nested", { rule: "self.min > '1'" }],
  ["items", { rule: "self.all(i, i.sizes > 1)" }],
  ["labels", { rule: "self.all(k, v, v > 1)" }],
  ["free", { rule: "self.x == 1" }],
  ["name", { rule: "self.matches('[')" }],
  ["name", { rule: "object.spec.x == 1" }],
];

/** Sizes without a limit, which make a rule too expensive at worst. */
const unlimited: Schema = { type: "array", items: { type: "string" } };
const expensive: readonly Schema[] = [
  { ...unlimited, "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, a == b))" }] },
  { ...unlimited, "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, self.all(c, a + b != c)))" }] },
  { type: "array", items: { type: "string", "x-kubernetes-validations": [{ rule: "self.matches('^a+$')" }] } },
  { type: "array", items: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] } },
];

function brokenCase(): PolicyCase {
  const schemas = [
    ...brokenRules.map(([name, rule]): Schema => ({ ...fields[name]?.schema, "x-kubernetes-validations": [rule] })),
    ...expensive,
  ];
  return {
    id: "broken-rules",
    policies: [],
    requests: schemas.map((schema, index) => ({
      method: "POST",
      path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
      body: definitionOf(`broken${index}`, { field: schema }),
    })),
  };
}

export function ruleCases(random: Random): PolicyCase[] {
  return [...ruled(random, 12), brokenCase()];
}
