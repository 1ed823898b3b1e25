import { describe, expect, it } from "vitest";
import { compileCrdRules } from "./crd-rules.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const text: StructuralSchema = { type: "string" };

function withSpec(spec: StructuralSchema, rules: unknown[] = []): StructuralSchema {
  return { type: "object", properties: { spec }, "x-kubernetes-validations": rules };
}

describe("compileCrdRules", () => {
  it("reports a failed rule with path, value and message", () => {
    const rules = compileCrdRules(
      withSpec({
        type: "object",
        properties: {
          replicas: {
            type: "integer",
            "x-kubernetes-validations": [{ rule: "self > 0", message: "must be positive" }],
          },
          name: { ...text, "x-kubernetes-validations": [{ rule: "self.startsWith('a')" }] },
        },
        "x-kubernetes-validations": [{ rule: "self.replicas < 5" }],
      }),
    );
    expect(rules.problems).toEqual([]);
    expect(rules.validate({ spec: { replicas: 3, name: "abc" } }).errors).toEqual([]);
    expect(rules.validate({ spec: { replicas: 0, name: "x" } }).errors).toEqual([
      {
        reason: "FieldValueInvalid",
        field: "spec.replicas",
        detail: "must be positive",
        message: "Invalid value: 0: must be positive",
      },
      {
        reason: "FieldValueInvalid",
        field: "spec.name",
        detail: "failed rule: self.startsWith('a')",
        message: `Invalid value: "x": failed rule: self.startsWith('a')`,
      },
    ]);
    expect(rules.validate({ spec: { replicas: 9, name: "a" } }).errors[0]?.message).toBe(
      "Invalid value: failed rule: self.replicas < 5",
    );
  });

  it("runs message expressions, reasons and field paths", () => {
    const rules = compileCrdRules(
      withSpec({
        type: "object",
        properties: { min: { type: "integer" }, max: { type: "integer" } },
        "x-kubernetes-validations": [
          {
            rule: "self.min <= self.max",
            messageExpression: "'min is %d, more than %d'.format([self.min, self.max])",
            reason: "FieldValueForbidden",
            fieldPath: ".min",
          },
        ],
      }),
    );
    expect(rules.validate({ spec: { min: 5, max: 3 } }).errors).toEqual([
      {
        reason: "FieldValueForbidden",
        field: "spec.min",
        detail: "min is 5, more than 3",
        message: "Forbidden: min is 5, more than 3",
      },
    ]);
  });

  it("falls back to the message when the message expression fails", () => {
    const rules = compileCrdRules(
      withSpec({ type: "object", properties: { a: text } }, [
        { rule: "false", message: "no", messageExpression: "self.spec.a" },
      ]),
    );
    expect(rules.validate({ spec: {} }).errors[0]?.detail).toBe("no");
    expect(rules.validate({ spec: { a: "two\nlines" } }).errors[0]?.detail).toBe("no");
    expect(rules.validate({ spec: { a: " why " } }).errors[0]?.detail).toBe("why");
  });

  it("runs transition rules only when there is an old value", () => {
    const rules = compileCrdRules(
      withSpec({
        type: "object",
        properties: { id: { ...text, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] } },
      }),
    );
    expect(rules.validate({ spec: { id: "a" } }).errors).toEqual([]);
    expect(rules.validate({ spec: { id: "a" } }, { spec: { id: "a" } }).errors).toEqual([]);
    expect(rules.validate({ spec: { id: "b" } }, { spec: { id: "a" } }).errors).toHaveLength(1);
    expect(rules.validate({ spec: { id: "b" } }, { spec: {} }).errors).toEqual([]);
  });

  it("gives an optional old value where the rule asks for it", () => {
    const rules = compileCrdRules(
      withSpec({
        ...text,
        "x-kubernetes-validations": [
          { rule: "oldSelf.orValue('') != 'fixed' || self == 'fixed'", optionalOldSelf: true },
        ],
      }),
    );
    expect(rules.validate({ spec: "new" }).errors).toEqual([]);
    expect(rules.validate({ spec: "new" }, { spec: "fixed" }).errors).toHaveLength(1);
  });

  it("follows items of keyed lists from old to new", () => {
    const rules = compileCrdRules(
      withSpec({
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          properties: {
            name: text,
            size: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] },
          },
        },
      }),
    );
    const old = {
      spec: [
        { name: "a", size: 1 },
        { name: "b", size: 9 },
      ],
    };
    expect(
      rules.validate(
        {
          spec: [
            { name: "b", size: 9 },
            { name: "a", size: 2 },
          ],
        },
        old,
      ).errors,
    ).toEqual([]);
    const errors = rules.validate({ spec: [{ name: "b", size: 8 }] }, old).errors;
    expect(errors.map(({ field }) => field)).toEqual(["spec[0].size"]);
  });

  it("only warns about what an update left as it was", () => {
    const rules = compileCrdRules(
      withSpec({
        type: "object",
        properties: { a: { ...text, "x-kubernetes-validations": [{ rule: "self == 'good'" }] }, b: text },
      }),
    );
    const result = rules.validate({ spec: { a: "bad", b: "2" } }, { spec: { a: "bad", b: "1" } });
    expect(result.errors).toEqual([]);
    expect(result.warnings).toEqual([`spec.a: Invalid value: "bad": failed rule: self == 'good'`]);
    expect(rules.validate({ spec: { a: "worse" } }, { spec: { a: "bad" } }).errors).toHaveLength(1);
  });

  it("sees of the metadata only the name", () => {
    const rules = compileCrdRules(withSpec(text, [{ rule: "self.metadata.name.startsWith('vm-')" }]));
    expect(rules.validate({ metadata: { name: "vm-1" }, spec: "" }).errors).toEqual([]);
    expect(rules.validate({ metadata: { name: "x" }, spec: "" }).errors[0]?.field).toBe("<nil>");
    const labels = compileCrdRules(withSpec(text, [{ rule: "self.metadata.labels.size() > 0" }]));
    expect(labels.problems[0]?.detail).toContain("undefined field 'labels'");
  });

  it.each([
    ["self.spce == 'a'", "compilation failed: ERROR: <input>:1:5: undefined field 'spce'"],
    ["self.spec", "cel expression must evaluate to a bool"],
    [
      "self.spec == 1",
      "compilation failed: ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(string, int)'",
    ],
    ["self.spec +", "compilation failed: ERROR: <input>:1:12: Syntax error"],
  ])("refuses %s", (rule, detail) => {
    const { problems } = compileCrdRules(withSpec(text, [{ rule }]));
    expect(problems[0]?.schemaPath).toBe("x-kubernetes-validations[0].rule");
    expect(problems[0]?.detail).toContain(detail);
  });

  it("reports errors of evaluation in Kubernetes' words", () => {
    const port: StructuralSchema = { "x-kubernetes-int-or-string": true };
    const rules = compileCrdRules(
      withSpec({ type: "object", properties: { m: { type: "object", additionalProperties: text }, port } }, [
        { rule: "self.spec.m['x'] == 'y'" },
        { rule: "self.spec.port + 1 > 3" },
      ]),
    );
    expect(rules.validate({ spec: { m: {}, port: "http" } }).errors.map(({ message }) => message)).toEqual([
      `Invalid value: "object": no such key: x evaluating rule: self.spec.m['x'] == 'y'`,
      `Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.spec.port + 1 > 3`,
    ]);
  });

  it("stops when a rule costs too much", () => {
    const rules = compileCrdRules(
      withSpec({ type: "array", items: { type: "integer" } }, [
        { rule: "self.spec.all(a, self.spec.all(b, self.spec.all(c, a + b + c >= 0)))" },
        { rule: "false" },
      ]),
    );
    const { errors } = rules.validate({ spec: Array.from({ length: 500 }, () => 1) });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.detail).toContain(
      "no further validation rules will be run due to call cost exceeds limit for rule",
    );
  });

  it("knows numbers, dates, durations and bytes by their schema", () => {
    const rules = compileCrdRules(
      withSpec(
        {
          type: "object",
          properties: {
            ratio: { type: "number" },
            when: { type: "string", format: "date-time" },
            wait: { type: "string", format: "duration" },
            data: { type: "string", format: "byte" },
            tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
            "with-dash": text,
          },
        },
        [
          { rule: "self.spec.ratio / 2.0 == 0.5" },
          { rule: "self.spec.when > timestamp('2020-01-01T00:00:00Z')" },
          { rule: "self.spec.wait == duration('1h')" },
          { rule: "self.spec.data == b'hi'" },
          { rule: "self.spec.tags == ['b', 'a'] && self.spec.tags + ['a'] == ['a', 'b']" },
          { rule: "self.spec.with__dash__dash == 'x'" },
        ],
      ),
    );
    expect(rules.problems).toEqual([]);
    const spec = {
      ratio: 1,
      when: "2021-01-01T00:00:00Z",
      wait: "60m",
      data: "aGk=",
      tags: ["a", "b"],
      "with-dash": "x",
    };
    expect(rules.validate({ spec }).errors).toEqual([]);
  });

  it("runs rules inside allOf and in values of maps", () => {
    const rules = compileCrdRules(
      withSpec({
        type: "object",
        additionalProperties: { ...text, "x-kubernetes-validations": [{ rule: "self != ''" }] },
        allOf: [{ "x-kubernetes-validations": [{ rule: "size(self) < 3" }] }],
      }),
    );
    expect(rules.validate({ spec: { a: "1", b: "" } }).errors.map(({ field }) => field)).toEqual(["spec[b]"]);
    expect(rules.validate({ spec: { a: "1", b: "2", c: "3" } }).errors.map(({ field }) => field)).toEqual(["spec"]);
  });
});

describe("estimated cost of rules", () => {
  const list = (more: StructuralSchema): StructuralSchema => ({ type: "array", items: text, ...more });

  it("refuses rules that could cost too much, and says by how much", () => {
    const rule = "self.spec.all(a, self.spec.all(b, a == b))";
    const { problems } = compileCrdRules(withSpec(list({}), [{ rule }]));
    expect(problems.map(({ schemaPath, reason }) => [schemaPath, reason])).toEqual([
      ["x-kubernetes-validations[0].rule", "FieldValueForbidden"],
      ["x-kubernetes-validations[0].rule", "FieldValueForbidden"],
      ["", "FieldValueForbidden"],
    ]);
    expect(problems[0]?.detail).toBe(
      "estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
    );
  });

  it("accepts them when the schema bounds the sizes", () => {
    const rule = "self.spec.all(a, self.spec.all(b, a == b))";
    const bounded = { ...list({ maxItems: 100 }), items: { ...text, maxLength: 50 } };
    expect(compileCrdRules(withSpec(bounded, [{ rule }])).problems).toEqual([]);
  });

  it("counts how often the place of a rule can occur", () => {
    const items: StructuralSchema = {
      ...text,
      maxLength: 1000,
      "x-kubernetes-validations": [{ rule: "self.matches('^[a-z]+$')" }],
    };
    expect(compileCrdRules(withSpec({ type: "array", items })).problems[0]?.detail).toContain(
      "exceeds budget by factor of",
    );
    expect(compileCrdRules(withSpec({ type: "array", items, maxItems: 1000 })).problems).toEqual([]);
  });
});
