import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { packageRules } from "./import-rules.ts";

interface SourceFile {
  readonly path: string;
  readonly package: string;
  readonly imports: readonly string[];
}

/** Reads every TypeScript file below packages/ and returns what breaks the direction of imports, one line each. */
export async function checkImports(root: string): Promise<{ files: number; problems: string[] }> {
  const problems: string[] = [];
  const packages = (await readdir(join(root, "packages"), { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  );
  for (const { name } of packages) {
    if (packageRules[name] === undefined) problems.push(`packages/${name} has no rule in tools/import-rules.ts`);
  }
  const files = await readSources(root);
  for (const file of files) {
    for (const specifier of file.imports) problems.push(...judge(root, file, specifier));
  }
  problems.push(...findCycles(root, files));
  return { files: files.length, problems };
}

async function readSources(root: string): Promise<SourceFile[]> {
  const entries = await readdir(join(root, "packages"), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.includes("node_modules"))
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({
      path,
      package: relative(join(root, "packages"), path).split("/")[0] ?? "",
      imports: importsOf(path, await readFile(path, "utf8")),
    })),
  );
}

/** Static, type-only, dynamic and re-exporting imports alike. */
function importsOf(path: string, text: string): string[] {
  const { module, program } = parseSync(path, text);
  const found = [
    ...module.staticImports.map((item) => item.moduleRequest.value),
    ...module.staticExports.flatMap((item) =>
      item.entries.flatMap((entry) => (entry.moduleRequest === null ? [] : [entry.moduleRequest.value])),
    ),
    ...module.dynamicImports.map((item) =>
      text.slice(item.moduleRequest.start, item.moduleRequest.end).replace(/^["'`]|["'`]$/g, ""),
    ),
  ];
  if (program.body.length === 0 && text.trim() !== "" && !/^\s*(\/\/|\/\*)/.test(text)) {
    throw new Error(`${path}: cannot be parsed as TypeScript`);
  }
  return found;
}

function judge(root: string, file: SourceFile, specifier: string): string[] {
  const where = relative(root, file.path);
  const rule = packageRules[file.package];
  if (rule === undefined) return [];
  if (specifier.startsWith(".")) {
    const inside = join(root, "packages", file.package);
    const target = resolve(dirname(file.path), specifier);
    return target.startsWith(inside) ? [] : [`${where}: reaches outside its package with "${specifier}"`];
  }
  if (specifier.startsWith("node:")) {
    const tooling = /\.(test|itest)\.ts$|\/generate\/|\/testdata\//.test(file.path);
    return rule.pure && !tooling ? [`${where}: ${file.package} is pure and must not import "${specifier}"`] : [];
  }
  const target = /^@polyvirt\/([^/]+)/.exec(specifier)?.[1];
  if (target === undefined || target === file.package) return [];
  return judgePackage(where, file.package, target, specifier);
}

function judgePackage(where: string, from: string, target: string, specifier: string): string[] {
  const rule = packageRules[from];
  const targetRule = packageRules[target];
  if (rule === undefined || targetRule === undefined) return [`${where}: unknown package "${specifier}"`];
  if (rule.blackBox !== undefined && !rule.blackBox.includes(target)) {
    return [`${where}: ${from} is a black-box package and must not import "${specifier}"`];
  }
  const allowed = targetRule.ring < rule.ring || (targetRule.ring === rule.ring && rule.beside?.includes(target));
  if (!allowed) return [`${where}: ${from} (ring ${rule.ring}) must not import ${target} (ring ${targetRule.ring})`];
  const only = rule.only?.[target];
  if (only !== undefined && !only.includes(specifier)) {
    return [`${where}: ${from} may import only ${only.join(", ")} of ${target}, not "${specifier}"`];
  }
  return [];
}

/** Files that import each other in a ring, found by depth-first search over relative imports. */
function findCycles(root: string, files: readonly SourceFile[]): string[] {
  const known = new Set(files.map((file) => file.path));
  const edges = new Map(
    files.map((file) => [
      file.path,
      file.imports
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => resolve(dirname(file.path), specifier))
        .filter((path) => known.has(path) || existsSync(path)),
    ]),
  );
  const state = new Map<string, "open" | "done">();
  const trail: string[] = [];
  const problems: string[] = [];
  const visit = (path: string): void => {
    state.set(path, "open");
    trail.push(path);
    for (const next of edges.get(path) ?? []) {
      if (state.get(next) === "open") {
        const cycle = [...trail.slice(trail.indexOf(next)), next].map((item) => relative(root, item));
        problems.push(`import cycle: ${cycle.join(" → ")}`);
      } else if (!state.has(next)) visit(next);
    }
    trail.pop();
    state.set(path, "done");
  };
  for (const path of edges.keys()) if (!state.has(path)) visit(path);
  return problems;
}
