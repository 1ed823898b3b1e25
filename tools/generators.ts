import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { run } from "./run.ts";

/**
 * A package's generator, `packages/NAME/generate/main.ts`, which writes into the package's `gen` folders. One that reads
 * something outside of the repository ends with exit code 3 where that is missing. Beside it lies `record.json` with the
 * digests of the generator and of what it wrote, so that a change of either is noticed also where it cannot run.
 */
export interface Generator {
  readonly name: string;
  readonly folder: string;
}

type Digests = Readonly<Record<string, string>>;

interface GeneratorRecord {
  readonly generator: Digests;
  readonly generated: Digests;
}

const inputsMissing = 3;

export async function findGenerators(root: string): Promise<Generator[]> {
  const names = (await readdir(join(root, "packages"))).toSorted();
  return names
    .map((name) => ({ name, folder: join(root, "packages", name) }))
    .filter(({ folder }) => existsSync(join(folder, "generate/main.ts")));
}

export async function runGenerator({ name }: Generator): Promise<"ran" | "inputs missing" | { failure: string }> {
  const { code, output } = await run("npx", ["tsx", `packages/${name}/generate/main.ts`]);
  if (code === 0) return "ran";
  return code === inputsMissing ? "inputs missing" : { failure: output.trim() };
}

export const hasRecord = (generator: Generator): boolean => existsSync(recordFile(generator));

/** Digests of everything in the package's `gen` folders. */
export const generatedDigests = async (generator: Generator): Promise<Digests> =>
  (await currentRecord(generator)).generated;

/** To be written right after the generator ran. */
export async function writeRecord(generator: Generator): Promise<void> {
  await writeFile(recordFile(generator), `${JSON.stringify(await currentRecord(generator), undefined, 2)}\n`);
}

/** How the package differs from its record, one line per file. */
export async function differencesFromRecord(generator: Generator): Promise<string[]> {
  const text = await readFile(recordFile(generator), "utf8").catch(() => undefined);
  if (text === undefined) return [`packages/${generator.name}/generate/record.json is missing: run npm run generate`];
  // Written by writeRecord.
  const recorded = JSON.parse(text) as GeneratorRecord;
  const current = await currentRecord(generator);
  const place = `packages/${generator.name}`;
  return [
    ...differing(recorded.generator, current.generator).map(
      (file) => `${place}/${file} changed since the generated code was made: run npm run generate with its inputs`,
    ),
    ...differing(recorded.generated, current.generated).map((file) => `${place}/${file} was changed by hand`),
  ];
}

const recordFile = ({ folder }: Generator): string => join(folder, "generate/record.json");

async function currentRecord({ folder }: Generator): Promise<GeneratorRecord> {
  const sources = await filesBelow(join(folder, "generate"));
  const generated = await filesBelow(join(folder, "src"));
  return {
    generator: await digestsOf(
      folder,
      sources.filter((file) => file.endsWith(".ts")),
    ),
    generated: await digestsOf(
      folder,
      generated.filter((file) => relative(folder, file).split("/").includes("gen")),
    ),
  };
}

async function filesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function digestsOf(folder: string, files: readonly string[]): Promise<Digests> {
  const digests = await Promise.all(
    files.toSorted().map(async (file) => {
      const digest = createHash("sha256").update(await readFile(file));
      return [relative(folder, file), digest.digest("hex")] as const;
    }),
  );
  return Object.fromEntries(digests);
}

export const differing = (before: Digests, after: Digests): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((file) => before[file] !== after[file]);
