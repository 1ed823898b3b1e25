import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import type { SerializedIncrementalTest, SerializedIncrementalTestSuite } from "@bufbuild/cel-spec/testdata/tests.js";
import { describe, expect, it } from "vitest";
import { formatType } from "../types.ts";
import type { Value } from "../values.ts";
import exceptions from "./exceptions.json" with { type: "json" };
import { identical } from "./identical.ts";
import { bindingsOf, environmentFor, needsProtobuf, readType, readValue } from "./vector.ts";

interface NamedTest {
  readonly name: string;
  readonly test: SerializedIncrementalTest;
}

function collect(suite: SerializedIncrementalTestSuite, path: string): NamedTest[] {
  const own = (suite.tests ?? []).map((test) => ({ name: `${path}/${test.original.name ?? ""}`, test }));
  return [...own, ...(suite.suites ?? []).flatMap((inner) => collect(inner, `${path}/${inner.name}`))];
}

/** What is wrong with our answer, or undefined when it is right. */
function problemWith({ original, type }: SerializedIncrementalTest): string | undefined {
  const compiled = environmentFor(original).tryCompile(original.expr, { skipCheck: original["disableCheck"] === true });
  if (!compiled.ok) return `does not compile: ${compiled.message}`;
  const typed = original["typedResult"] as { result?: Record<string, unknown>; deducedType: never } | undefined;
  const found = formatType(compiled.program.type);
  const wanted = typed === undefined ? type : formatType(readType(typed.deducedType));
  // cel-go deduced `dyn` for vectors that use what it did not have enabled; that says nothing.
  if (wanted !== undefined && wanted !== "dyn" && original["disableCheck"] !== true && found !== wanted) {
    return `has type ${found} instead of ${wanted}`;
  }
  if (original["checkOnly"] === true) return undefined;
  const result = compiled.program.run(bindingsOf(original));
  if (original["evalError"] !== undefined)
    return result.ok ? `is ${show(result.value)} instead of an error` : undefined;
  if (!result.ok) return `fails: ${result.failure.message}`;
  const expected = (original["value"] ?? typed?.result ?? { boolValue: true }) as Record<string, unknown>;
  return identical(result.value, readValue(expected)) ? undefined : `is ${show(result.value)}`;
}

function show(value: Value): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item)) ?? "";
}

const all = (tests.suites ?? []).flatMap((suite) => collect(suite, suite.name));
const runnable = all.filter(({ test }) => !needsProtobuf(test.original));
const failures = runnable.flatMap(({ name, test }) => {
  const problem = problemWith(test);
  return problem === undefined ? [] : [{ name, expr: test.original.expr, problem }];
});
const passing = runnable.length - failures.length;

describe("conformance with the CEL specification", () => {
  it("fails nothing but the listed exceptions", () => {
    expect(failures.filter(({ name }) => !Object.hasOwn(exceptions.exceptions, name))).toEqual([]);
  });

  it("has no exception that is not needed", () => {
    const failing = new Set(failures.map(({ name }) => name));
    expect(Object.keys(exceptions.exceptions).filter((name) => !failing.has(name))).toEqual([]);
  });

  it("does not pass fewer vectors than before", () => {
    const share = ((passing / runnable.length) * 100).toFixed(2);
    console.info(`CEL conformance: ${passing} of ${runnable.length} vectors without protobuf (${share} %)`);
    expect(passing).toBeGreaterThanOrEqual(exceptions.passing);
    expect(passing / runnable.length).toBeGreaterThanOrEqual(0.99);
  });
});
