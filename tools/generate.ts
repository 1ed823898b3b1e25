/** Writes everything that is generated: each package's generate/main.ts, then the error reference. `npm run generate`. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { writeErrorReference } from "./error-reference.ts";
import { repositoryRoot } from "./repository.ts";
import { run } from "./run.ts";

for (const name of (await readdir(join(repositoryRoot, "packages"))).toSorted()) {
  const generator = `packages/${name}/generate/main.ts`;
  if (!existsSync(join(repositoryRoot, generator))) continue;
  process.stdout.write(`generate: ${name}\n`);
  const { code, output } = await run("npx", ["tsx", generator]);
  process.stdout.write(output);
  if (code !== 0) process.exit(code);
}
await writeErrorReference();
