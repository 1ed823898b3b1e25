import {
  differencesFromRecord,
  differing,
  findGenerators,
  generatedDigests,
  hasRecord,
  runGenerator,
} from "./generators.ts";
import { repositoryRoot } from "./repository.ts";

/**
 * Runs every generator in place and reports which files changed. A difference means that generated code was edited by
 * hand or not generated again; the tree is then left as the generators made it, so that the fix is to look and commit.
 * Where a generator lacks its inputs, its record decides.
 */
export async function checkGenerated(): Promise<string[]> {
  const problems: string[] = [];
  for (const generator of await findGenerators(repositoryRoot)) {
    const before = await generatedDigests(generator);
    const outcome = await runGenerator(generator);
    const place = `packages/${generator.name}`;
    if (typeof outcome === "object") problems.push(`${place}: the generator failed: ${outcome.failure}`);
    const changed = differing(before, await generatedDigests(generator));
    problems.push(...changed.map((file) => `${place}/${file} was out of date and is now regenerated`));
    if (outcome === "inputs missing" || hasRecord(generator))
      problems.push(...(await differencesFromRecord(generator)));
  }
  return problems;
}
