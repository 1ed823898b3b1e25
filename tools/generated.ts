import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { repositoryRoot } from "./repository.ts";
import { run } from "./run.ts";

/** Pages that generators write beside the code in `src/gen`. */
const generatedPages = join(repositoryRoot, "docs/reference");

/**
 * Runs every generator in place and reports which files changed. A difference means that generated code was edited by
 * hand or not regenerated; the tree is then left as the generators made it, so that the fix is to look and commit.
 */
export async function checkGenerated(): Promise<string[]> {
  const problems: string[] = [];
  for (const name of (await readdir(join(repositoryRoot, "packages"))).toSorted()) {
    const folder = join(repositoryRoot, "packages", name);
    if (!existsSync(join(folder, "generate/main.ts"))) continue;
    const before = await fingerprint(join(folder, "src/gen"), generatedPages);
    const { code, output } = await run("npx", ["tsx", `packages/${name}/generate/main.ts`]);
    if (code !== 0) problems.push(`packages/${name}: the generator failed: ${output.trim()}`);
    const after = await fingerprint(join(folder, "src/gen"), generatedPages);
    for (const path of new Set([...before.keys(), ...after.keys()])) {
      if (before.get(path) !== after.get(path)) problems.push(`${path} was out of date and is now regenerated`);
    }
  }
  return problems;
}

async function fingerprint(...folders: readonly string[]): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  const entries = await Promise.all(
    folders
      .filter((folder) => existsSync(folder))
      .map((folder) => readdir(folder, { recursive: true, withFileTypes: true })),
  );
  for (const entry of entries.flat()) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const hash = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    hashes.set(relative(repositoryRoot, path), hash);
  }
  return hashes;
}
