import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkImports } from "./imports.ts";
import { repositoryRoot } from "./repository.ts";

describe("checkImports", () => {
  it("finds every violation of the fixture and nothing else", async () => {
    const { files, problems } = await checkImports(join(repositoryRoot, "tools/fixtures/imports"));
    expect(files).toBe(6);
    expect(problems.toSorted()).toEqual([
      "import cycle: packages/core/src/cycle-a.ts → packages/core/src/cycle-b.ts → packages/core/src/cycle-a.ts",
      "packages/api/src/beside.ts: api (ring 1) must not import domain (ring 1)",
      'packages/api/src/beside.ts: reaches outside its package with "../../core/src/cycle-a.ts"',
      "packages/core/src/reaches-up.ts: core (ring 0) must not import kube (ring 3)",
      'packages/core/src/reaches-up.ts: core is pure and must not import "node:fs"',
      "packages/stray has no rule in tools/import-rules.ts",
    ]);
  });
});
