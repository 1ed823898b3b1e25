import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { differencesFromRecord, findGenerators, writeRecord, type Generator } from "./generators.ts";

describe("the record beside a generator", () => {
  let root: string;
  let generator: Generator;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "polyvirt-generators-"));
    const folder = join(root, "packages/sample");
    await mkdir(join(folder, "generate"), { recursive: true });
    await mkdir(join(folder, "src/deep/gen"), { recursive: true });
    await mkdir(join(root, "packages/other/src"), { recursive: true });
    await writeFile(join(folder, "generate/main.ts"), "// one");
    await writeFile(join(folder, "src/deep/gen/table.json"), "{}");
    await writeFile(join(folder, "src/deep/written.ts"), "// by people");
    const [found, ...others] = await findGenerators(root);
    if (found === undefined || others.length > 0) throw new Error("there is one generator in the sample");
    generator = found;
    await writeRecord(generator);
  });
  afterEach(() => rm(root, { recursive: true }));

  it("agrees with what it recorded, whatever people write elsewhere", async () => {
    await writeFile(join(generator.folder, "src/deep/written.ts"), "// changed");
    expect(await differencesFromRecord(generator)).toEqual([]);
  });

  it("notices generated code that was edited, added or removed", async () => {
    await writeFile(join(generator.folder, "src/deep/gen/table.json"), "{ }");
    await writeFile(join(generator.folder, "src/deep/gen/more.json"), "{}");
    expect(await differencesFromRecord(generator)).toEqual([
      "packages/sample/src/deep/gen/table.json was changed by hand",
      "packages/sample/src/deep/gen/more.json was changed by hand",
    ]);
  });

  it("notices a generator that changed", async () => {
    await writeFile(join(generator.folder, "generate/main.ts"), "// two");
    expect(await differencesFromRecord(generator)).toEqual([
      "packages/sample/generate/main.ts changed since the generated code was made: run npm run generate with its inputs",
    ]);
  });

  it("is missed when it is not there", async () => {
    await rm(join(generator.folder, "generate/record.json"));
    expect(await differencesFromRecord(generator)).toEqual([
      "packages/sample/generate/record.json is missing: run npm run generate",
    ]);
  });
});
