import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generate } from "../generate/main.ts";
import { parseTypeExpression } from "../generate/type-expression.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "polyvirt-api-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("generate", () => {
  it("gives what is checked in, and removes what is no longer generated", async () => {
    await writeFile(join(folder, "stale.ts"), "");
    await generate(folder);
    const checkedIn = join(import.meta.dirname, "gen");
    const names = (await readdir(folder)).sort();
    expect(names).toEqual((await readdir(checkedIn)).sort());
    for (const name of names) {
      expect(await readFile(join(folder, name), "utf8")).toBe(await readFile(join(checkedIn, name), "utf8"));
    }
  });
});

describe("parseTypeExpression", () => {
  const named = (name: string, nullable = false) => ({ kind: "named", name, nullable });
  it.each([
    ["string", named("string")],
    ["Time or null", named("Time", true)],
    ["map of list of string", { kind: "map", values: { kind: "list", items: named("string"), listType: "atomic" } }],
    ["set of string", { kind: "list", items: named("string"), listType: "set" }],
    ["list of A keyed by x, y", { kind: "list", items: named("A"), listType: "map", keys: ["x", "y"] }],
  ])("reads %s", (text, expected) => {
    expect(parseTypeExpression(text)).toEqual(expected);
  });

  it("refuses what it does not know", () => {
    expect(() => parseTypeExpression("array of string")).toThrow('cannot read the type "array of string"');
  });
});
