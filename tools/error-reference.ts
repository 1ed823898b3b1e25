import { readdir, writeFile, readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ErrorKind } from "@polyvirt/core";
import { repositoryRoot } from "./repository.ts";

const referencePath = join(repositoryRoot, "docs/reference/errors.md");
type ErrorTables = ReadonlyMap<string, Readonly<Record<string, ErrorKind>>>;

/** Every table of error kinds, by package: what an `errors.ts` exports as `errorKinds`, or as `…ErrorKinds` in a folder. */
async function readErrorTables(): Promise<ErrorTables> {
  const tables = new Map<string, Readonly<Record<string, ErrorKind>>>();
  for (const name of (await readdir(join(repositoryRoot, "packages"))).toSorted()) {
    if (name === "core") continue;
    for (const path of await findErrorFiles(join(repositoryRoot, "packages", name, "src"))) {
      // An errors.ts promises this export (CONTRIBUTING.md); the check below fails when it is missing.
      const exported = (await import(path)) as Record<string, Record<string, ErrorKind>>;
      const found = Object.entries(exported).filter(([key]) => /errorKinds$/i.test(key));
      tables.set(name, Object.assign({}, tables.get(name), ...found.map(([, kinds]) => kinds)));
    }
  }
  return tables;
}

async function findErrorFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.name === "errors.ts").map((entry) => join(entry.parentPath, entry.name));
}

/** Writes docs/reference/errors.md from the tables. */
export async function writeErrorReference(): Promise<void> {
  await writeFile(referencePath, render(await readErrorTables()));
}

/** Compares codes in both directions and the text in full; also refuses a code that two packages use. */
export async function checkErrorReference(): Promise<string[]> {
  const tables = await readErrorTables();
  const problems: string[] = [];
  const owners = new Map<string, string>();
  for (const [name, kinds] of tables) {
    if (Object.keys(kinds).length === 0) problems.push(`packages/${name}/src/errors.ts exports no errorKinds`);
    for (const code of Object.keys(kinds)) {
      const other = owners.get(code);
      if (other !== undefined) problems.push(`error code ${code} is used by ${other} and by ${name}`);
      owners.set(code, name);
    }
  }
  const page = existsSync(referencePath) ? await readFile(referencePath, "utf8") : "";
  const documented = new Set([...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? ""));
  for (const code of owners.keys())
    if (!documented.has(code)) problems.push(`${code} is not in docs/reference/errors.md`);
  for (const code of documented)
    if (!owners.has(code)) problems.push(`docs/reference/errors.md lists ${code}, unknown in code`);
  if (problems.length === 0 && page !== render(tables)) problems.push("docs/reference/errors.md is out of date");
  return problems.map((problem) => `${problem}; "npm run generate" writes the page`);
}

function render(tables: ErrorTables): string {
  const lines = [
    "# Error codes",
    "",
    "Every error that Polyvirt raises on purpose, by package. Made from the tables in `packages/*/src/errors.ts` by",
    "`npm run generate`. *Retry* says whether the same thing may succeed later without a change.",
  ];
  for (const [name, kinds] of tables) {
    lines.push("", `## ${name}`, "", "| code | meaning | what to do | retry |", "|---|---|---|---|");
    for (const [code, kind] of Object.entries(kinds).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push(`| \`${code}\` | ${cell(kind.meaning)} | ${cell(kind.action)} | ${kind.retry ? "yes" : "no"} |`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
