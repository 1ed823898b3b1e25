/** Writes everything that is generated: each package's generate/main.ts, then the error reference. `npm run generate`. */
import { writeErrorReference } from "./error-reference.ts";
import { findGenerators, hasRecord, runGenerator, writeRecord } from "./generators.ts";
import { repositoryRoot } from "./repository.ts";

for (const generator of await findGenerators(repositoryRoot)) {
  const outcome = await runGenerator(generator);
  if (typeof outcome === "object") {
    process.stderr.write(`generate: ${generator.name} failed\n${outcome.failure}\n`);
    process.exit(1);
  }
  process.stdout.write(`generate: ${generator.name}${outcome === "ran" ? "" : " skipped, its inputs are not here"}\n`);
  if (outcome === "ran" && hasRecord(generator)) await writeRecord(generator);
}
await writeErrorReference();
