import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Expr } from "./ast.ts";
import { identical } from "./conformance/identical.ts";
import { Environment } from "./environment.ts";
import { celEquals } from "./equality.ts";
import { kubernetesEnvironment } from "./kube/kubernetes-environment.ts";
import { bindingsLibrary, twoVariablesLibrary } from "./lib/macro-libraries.ts";
import { optionalsLibrary } from "./lib/optionals.ts";
import { printExpr } from "./print.ts";
import { compareValues } from "./stdlib/comparison.ts";
import { DYN } from "./types.ts";
import { Double, Uint, adapt, canonicalInt, typeNameOf, type Value } from "./values.ts";

const variables = { a: DYN, b: DYN, c: DYN };
const libraries = [optionalsLibrary, twoVariablesLibrary, bindingsLibrary];
const environment = new Environment({ variables, libraries });
const strict = kubernetesEnvironment({ variables });
const relaxed = kubernetesEnvironment({ variables, dialect: "relaxed" });

const names = fc.constantFrom("a", "b", "c");
const fields = fc.constantFrom("x", "y", "name", "items");

/** Expressions as text: everything that the grammar has, though not everything that makes sense. */
const { expression } = fc.letrec<{ expression: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    names,
    fc.integer({ min: 0, max: 1000 }).map(String),
    fc.constantFrom("true", "false", "null", "1.5", "2u", "b'ab'", "-3", "''", "[]", "{}"),
    fc.string({ maxLength: 5 }).map((text) => JSON.stringify(text.replace(/[^ -~]/g, ""))),
  ),
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("leaf"),
    fc
      .tuple(
        tie("expression"),
        fc.constantFrom("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||"),
        tie("expression"),
      )
      .map(([x, op, y]) => `(${x}) ${op} (${y})`),
    fc.tuple(tie("expression"), tie("expression"), tie("expression")).map(([x, y, z]) => `(${x}) ? (${y}) : (${z})`),
    fc.tuple(fc.constantFrom("!", "-"), tie("expression")).map(([op, x]) => `${op}(${x})`),
    fc.tuple(tie("expression"), fields).map(([x, field]) => `(${x}).${field}`),
    fc.tuple(tie("expression"), fields).map(([x, field]) => `(${x}).?${field}`),
    fc.tuple(tie("expression"), fields).map(([x, field]) => `has((${x}).${field})`),
    fc.tuple(tie("expression"), tie("expression")).map(([x, y]) => `(${x})[${y}]`),
    fc.array(tie("expression"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc
      .array(fc.tuple(fields, tie("expression")), { maxLength: 3 })
      .map((items) => `{${items.map(([key, value], index) => `"${key}${index}": ${value}`).join(", ")}}`),
    fc
      .tuple(tie("expression"), fc.constantFrom("all", "exists", "exists_one", "map", "filter"), tie("expression"))
      .map(([x, macro, y]) => `(${x}).${macro}(c, ${y})`),
    fc.tuple(tie("expression"), tie("expression")).map(([x, y]) => `(${x}).transformList(a, c, ${y})`),
    fc
      .tuple(fc.constantFrom("size", "string", "int", "type", "dyn"), tie("expression"))
      .map(([name, x]) => `${name}(${x})`),
  ),
}));

const json = fc.jsonValue({ maxDepth: 3 });
const inputs = fc.record({ a: json, b: json, c: json });

/** The tree without places and numbers of nodes. */
function shape(expr: Expr): unknown {
  return JSON.parse(
    JSON.stringify(expr, (key, value: unknown) => {
      if (["id", "start", "end", "at", "text"].includes(key)) return undefined;
      return typeof value === "bigint" ? String(value) : value;
    }),
  );
}

describe("properties", { timeout: 60_000 }, () => {
  it("printing and parsing give the same tree", () => {
    fc.assert(
      fc.property(expression, (source) => {
        const parsed = environment.parse(source);
        if (!parsed.ok) return;
        const again = environment.parse(printExpr(parsed.expr));
        expect(again.ok && shape(again.expr)).toEqual(shape(parsed.expr));
      }),
      { numRuns: 300 },
    );
  });

  it("anything can be evaluated on anything, and the checker's type holds", () => {
    fc.assert(
      fc.property(expression, inputs, (source, bindings) => {
        const compiled = environment.tryCompile(source);
        if (!compiled.ok) return;
        const result = compiled.program.run(bindings, { costLimit: 100_000 });
        if (!result.ok) return;
        const { kind } = compiled.program.type;
        const found = typeNameOf(result.value);
        const isPlain = ["bool", "string", "int", "list", "map", "bytes"].includes(kind);
        expect(isPlain ? found : kind).toBe(kind);
      }),
      { numRuns: 400 },
    );
  });

  it("text that is no expression is an issue, never an exception", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (source) => {
        environment.tryCompile(source);
        relaxed.tryCompile(source);
      }),
      { numRuns: 1_000 },
    );
  });

  it("costs at least what the estimate says, and at most", () => {
    fc.assert(
      fc.property(expression, inputs, (source, bindings) => {
        const compiled = strict.tryCompile(source);
        if (!compiled.ok) return;
        const result = compiled.program.run(bindings);
        // Kubernetes' estimate leaves out steps into untyped data, so only the upper end of finite loops is compared.
        const { max } = compiled.program.estimateCost();
        const steps = (source.match(/[.[]/g) ?? []).length;
        const isLoop = /all|exists|map|filter|transform/.test(source);
        expect(!result.ok || isLoop || result.cost <= max + steps * 2).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("a strict expression that has a value has the same in the relaxed dialect", () => {
    fc.assert(
      fc.property(expression, inputs, (source, bindings) => {
        const [plain, loose] = [strict.tryCompile(source), relaxed.tryCompile(source)];
        if (!plain.ok) return;
        expect(loose.ok && "compiled").toBe("compiled");
        const value = plain.program.run(bindings);
        if (!value.ok || !loose.ok) return;
        const other = loose.program.run(bindings);
        expect(other.ok && identical(other.value, value.value)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it("what the relaxed dialect evaluates, its strict text evaluates to the same", () => {
    fc.assert(
      fc.property(expression, inputs, (source, bindings) => {
        const loose = relaxed.tryCompile(source);
        if (!loose.ok) return;
        const text = loose.program.strictSource;
        const plain = strict.tryCompile(text);
        expect(plain.ok ? "compiled" : `${text}: ${plain.message}`).toBe("compiled");
        if (!plain.ok) return;
        const [a, b] = [loose.program.run(bindings), plain.program.run(bindings)];
        expect(b.ok).toBe(a.ok);
        expect(!a.ok || (b.ok && identical(a.value, b.value))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  const anyInt = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

  it("ints behave like 64-bit integers", () => {
    const sum = environment.compile("a + b");
    const product = environment.compile("a * b");
    const clamp = (value: bigint): Value =>
      value < -(2n ** 63n) || value > 2n ** 63n - 1n ? "overflow" : canonicalInt(value);
    fc.assert(
      fc.property(anyInt, anyInt, (left, right) => {
        const bindings = { a: canonicalInt(left), b: canonicalInt(right) };
        const [added, multiplied] = [sum.run(bindings), product.run(bindings)];
        expect(added.ok ? added.value : "overflow").toBe(clamp(left + right));
        expect(multiplied.ok ? multiplied.value : "overflow").toBe(clamp(left * right));
      }),
    );
  });

  const numeric = fc.oneof(
    anyInt.map((value): Value => canonicalInt(value)),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value): Value => new Uint(canonicalInt(value))),
    fc.double({ noNaN: true }).map((value): Value => new Double(value)),
  );

  it("orders numbers of all types, in both directions", () => {
    fc.assert(
      fc.property(numeric, numeric, (left, right) => {
        const [forward, backward] = [compareValues(left, right), compareValues(right, left)];
        expect(
          typeof forward === "number" && typeof backward === "number" && Math.sign(forward) + Math.sign(backward),
        ).toBe(0);
        expect(celEquals(left, right)).toBe(forward === 0);
      }),
    );
  });

  it("equality of JSON data is reflexive and symmetric", () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        const [a, b] = [adapt(left) ?? null, adapt(right) ?? null];
        expect(celEquals(a, a)).toBe(true);
        expect(celEquals(a, b)).toBe(celEquals(b, a));
      }),
    );
  });
});
