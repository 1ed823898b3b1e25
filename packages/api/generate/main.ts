import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { emitKinds, emitOpenApi } from "./openapi.ts";
import { readSchema } from "./read-schema.ts";
import { emitTypes } from "./typescript.ts";

const schemaFolder = join(import.meta.dirname, "..", "schema");
const defaultOutput = join(import.meta.dirname, "..", "src", "gen");

/** Writes everything that is generated from `schema/` into a folder, and removes what is no longer generated. */
export async function generate(outputFolder: string = defaultOutput): Promise<void> {
  const schema = await readSchema(schemaFolder);
  const files = emitTypes(schema);
  files.set("openapi.json", emitOpenApi(schema));
  files.set("kinds.json", emitKinds(schema));

  await mkdir(outputFolder, { recursive: true });
  for (const stale of (await readdir(outputFolder)).filter((name) => !files.has(name))) {
    await rm(join(outputFolder, stale), { recursive: true });
  }
  for (const [name, content] of files) await writeFile(join(outputFolder, name), content);
}

// `tsx packages/api/generate/main.ts [folder]`
if (process.argv[1] === import.meta.filename) await generate(process.argv[2]);
