import { tests as conformance } from "@bufbuild/cel-spec/testdata/conformance.js";
import { tests as checking } from "@bufbuild/cel-spec/testdata/checking.js";
import { tests as parsing } from "@bufbuild/cel-spec/testdata/parsing.js";
import type { SerializedIncrementalTest, SerializedIncrementalTestSuite } from "@bufbuild/cel-spec/testdata/tests.js";
import { describe, expect, it } from "vitest";
import { macroGroups, macroTable } from "../macros.ts";
import { parse } from "../parse.ts";
import { debugString } from "./debug-string.ts";

function collect(suite: SerializedIncrementalTestSuite): SerializedIncrementalTest[] {
  return [...(suite.tests ?? []), ...(suite.suites ?? []).flatMap(collect)];
}

const macros = macroTable([macroGroups.standard]);

describe("parser against cel-go", { timeout: 60_000 }, () => {
  const withTree = [parsing, checking, conformance]
    .flatMap(collect)
    // Macros are folds there and nodes of their own here.
    .filter(({ ast }) => ast !== undefined && !ast.includes("__comprehension__"));

  it("builds the same trees", () => {
    const different = withTree.flatMap(({ original, ast }) => {
      const result = parse(original.expr, { dialect: "strict", macros });
      const tree = result.ok ? debugString(result.expr) : result.issues.map((issue) => issue.message).join();
      return tree === ast ? [] : [{ expr: original.expr, tree, ast }];
    });
    // Vectors whose tree cel-go built with macros or limits of its own.
    expect(
      different.filter(({ expr }) => !/\b(?:exists|all|map|filter|exists_one|has|existsOne)\(/.test(expr)),
    ).toEqual([]);
    expect(withTree.length - different.length).toBeGreaterThan(2_300);
  });

  it("refuses what cel-go refuses", () => {
    const accepted = collect(parsing)
      .filter(({ ast }) => ast === undefined)
      // Optional and quoted syntax are options there; the recursion limit was set low for those vectors.
      .filter(({ error }) => error !== undefined && !/unsupported syntax|recursion|__result__|overwrites/.test(error))
      .filter(({ original }) => parse(original.expr, { dialect: "strict", macros }).ok)
      .map(({ original }) => original.expr);
    expect(accepted).toEqual([]);
  });
});
