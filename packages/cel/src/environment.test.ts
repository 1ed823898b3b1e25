import { describe, expect, it } from "vitest";
import { Environment } from "./environment.ts";
import { kubernetesEnvironment } from "./kube/kubernetes-environment.ts";
import { SchemaTypes } from "./kube/schema-type.ts";
import type { StructuralSchema } from "./kube/structural-schema.ts";
import { renderIssues } from "./source.ts";
import { BOOL, DYN, INT, STRING, formatType } from "./types.ts";

const vmiSchema: StructuralSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        running: { type: "boolean" },
        cores: { type: "integer" },
        memory: { "x-kubernetes-int-or-string": true },
        labels: { type: "object", additionalProperties: { type: "string" } },
        disks: {
          type: "array",
          items: { type: "object", properties: { name: { type: "string" }, bus: { type: "string" } } },
        },
        extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
};

function typed(dialect: "strict" | "relaxed" = "strict"): Environment {
  const schemaTypes = new SchemaTypes({ unknownFieldsAreDyn: true });
  const type = schemaTypes.add(vmiSchema, "vmi")?.type ?? DYN;
  return kubernetesEnvironment({ variables: { vmi: type }, types: [schemaTypes], dialect });
}

describe("an environment with a schema", () => {
  it.each([
    ["vmi.spec.cores > 2", "bool"],
    ["vmi.spec.disks.map(d, d.name)", "list(string)"],
    ["vmi.spec.labels['app']", "string"],
    ["vmi.spec.memory", "dyn"],
    ["vmi.spec.extra.anything.at.all", "dyn"],
    ["vmi.spec.?cores", "optional_type(int)"],
  ])("knows the type of %s", (source, type) => {
    expect(formatType(typed().compile(source).type)).toBe(type);
  });

  it.each([
    ["vmi.spec.coers > 2", "undefined field 'coers', did you mean 'cores'?"],
    ["vmi.spec.disks.exists(d, d.buss == 'ide')", "undefined field 'buss', did you mean 'bus'?"],
    ["vim.spec.cores > 2", "undeclared reference to 'vim' (in container ''), did you mean 'vmi'?"],
    [
      "vmi.spec.disks.exists(disk, dsik.name == '')",
      "undeclared reference to 'dsik' (in container ''), did you mean 'disk'?",
    ],
    [
      "vmi.spec.labels['app'].startWith('x')",
      "undeclared reference to 'startWith' (in container ''), did you mean 'startsWith'?",
    ],
    ["vmi.spec.cores == 'four'", "found no matching overload for '_==_' applied to '(int, string)'"],
    ["vmi.spec.running + 1", "found no matching overload for '_+_' applied to '(bool, int)'"],
    ["vmi.spec.cores.x", "type 'int' does not support field selection"],
    [
      "vmi.spec.cores.all(c, true)",
      "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
    ["vmi.spec.disks.all(d, d.name)", "expected type 'bool' but found 'string'"],
  ])("refuses %s", (source, message) => {
    const compiled = typed().tryCompile(source);
    expect(compiled.ok ? "compiled" : renderIssues(source, compiled.issues, { suggestions: true })).toContain(message);
  });

  it("names the place with line, column and a caret", () => {
    const source = "vmi.spec.running &&\n  vmi.spec.core == 1";
    const compiled = typed().tryCompile(source);
    expect(compiled.ok ? "" : compiled.message).toBe(
      "ERROR: <input>:2:11: undefined field 'core'\n |   vmi.spec.core == 1\n | ..........^",
    );
  });

  it("reads the relaxed dialect with types", () => {
    const evaluate = (source: string, vmi: object): unknown => {
      const program = typed("relaxed").compile(source);
      const value = program.evaluate({ vmi });
      expect(typed().compile(program.strictSource).evaluate({ vmi })).toEqual(value);
      return value;
    };
    expect(evaluate("vmi.spec.memory > 1Gi", { spec: { memory: "2Gi" } })).toBe(true);
    expect(evaluate("vmi.spec.memory > 1Gi", { spec: { memory: 5 } })).toBe(false);
    expect(evaluate("vmi.spec.labels['version'] > 1.9", { spec: { labels: { version: "1.10" } } })).toBe(true);
    expect(evaluate("vmi.spec.labels['app'] == null", { spec: {} })).toBe(true);
    expect(evaluate("vmi.spec.labels['app'] != 'web'", { spec: { labels: { app: "web" } } })).toBe(false);
    expect(evaluate("vmi.spec.running", { spec: { running: true } })).toBe(true);
    expect(evaluate("vmi.spec.running || vmi.spec.cores > 3", { spec: {} })).toBe(false);
    expect(evaluate("'x' in vmi.spec.labels", { spec: {} })).toBe(false);
  });
});

describe("Environment", () => {
  it("demands a type where the caller does", () => {
    const environment = new Environment({ variables: { x: INT, y: DYN } });
    expect(environment.tryCompile("x", { expect: BOOL })).toMatchObject({
      ok: false,
      issues: [{ message: "must evaluate to bool but got int" }],
    });
    expect(environment.tryCompile("x > 1", { expect: BOOL }).ok).toBe(true);
    expect(environment.tryCompile("y", { expect: BOOL }).ok).toBe(true);
  });

  it("compiles a source once", () => {
    const environment = new Environment({ variables: { x: INT } });
    expect(environment.compile("x + 1")).toBe(environment.compile("x + 1"));
    expect(environment.compile("x + 1")).not.toBe(environment.extend({}).compile("x + 1"));
  });

  it("throws errors with codes", () => {
    const environment = new Environment({ variables: { x: DYN } });
    expect(() => environment.compile("x +")).toThrow(expect.objectContaining({ code: "CelInvalid" }));
    expect(() => environment.compile("x.y").evaluate({ x: {} })).toThrow(
      expect.objectContaining({ code: "CelFailed", message: 'evaluate CEL expression "x.y" at 1:1: no such key: y' }),
    );
    expect(() => environment.compile("x.map(a, a)").evaluate({ x: [1, 2, 3] }, { costLimit: 5 })).toThrow(
      expect.objectContaining({ code: "CelTooExpensive" }),
    );
  });

  it("says which variables a program reads", () => {
    const environment = new Environment({ variables: { a: DYN, b: DYN, "c.d": STRING } });
    expect(environment.compile("a.x + c.d == string([1].map(b, b)[0])").variables).toEqual(["a", "c.d"]);
  });

  it("keeps evaluations apart", () => {
    const program = new Environment({ variables: { x: DYN } }).compile("x.map(a, a + 1)");
    expect(program.run({ x: [1] })).toEqual({ ok: true, value: [2], cost: expect.any(Number) });
    expect(program.run({})).toMatchObject({ ok: false, failure: { message: "no such attribute(s): x" } });
    expect(program.run({ x: [5] })).toMatchObject({ ok: true, value: [6] });
  });

  it("knows time zones by name and by offset", () => {
    const environment = new Environment({ variables: { t: STRING } });
    const hours = (zone: string): unknown =>
      environment.compile(`timestamp(t).getHours('${zone}')`).evaluate({ t: "2024-07-01T12:00:00Z" });
    expect([hours("UTC"), hours("Europe/Berlin"), hours("America/New_York"), hours("+05:30")]).toEqual([12, 14, 8, 17]);
    expect(() => hours("Nowhere/Else")).toThrow("unknown time zone Nowhere/Else");
  });
});
