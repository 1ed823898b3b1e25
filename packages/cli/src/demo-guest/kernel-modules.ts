import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errors } from "../errors.ts";

export interface KernelModule {
  readonly name: string;
  readonly path: string;
}

/**
 * The modules that provide `wanted`, each after everything it depends on, ready to be loaded one by one. Debian's kernel
 * package carries no modules.dep (its install script makes it), so dependencies come from the modules themselves. What is
 * `optional` is left out where the kernel has no module of that name.
 */
export async function resolveModules(
  modulesDir: string,
  wanted: readonly string[],
  optional: readonly string[] = [],
): Promise<KernelModule[]> {
  const paths = await findModules(modulesDir);
  const builtIn = await readBuiltIn(modulesDir);
  const ordered: KernelModule[] = [];
  const visited = new Set<string>();
  const visit = async (name: string): Promise<void> => {
    if (visited.has(name) || builtIn.has(name)) return;
    visited.add(name);
    const path = paths.get(name);
    if (path === undefined) {
      throw errors.DemoGuestModuleMissing(`find kernel module ${name} below ${modulesDir}`, {
        fields: { module: name },
      });
    }
    for (const dependency of dependenciesOf(await readFile(path))) await visit(dependency);
    ordered.push({ name, path });
  };
  for (const name of wanted) await visit(canonical(name));
  for (const name of optional) if (paths.has(canonical(name))) await visit(canonical(name));
  return ordered;
}

/** Reads the `depends=` entry of a module's .modinfo section: names separated by commas, ended by a NUL. */
export function dependenciesOf(module: Buffer): string[] {
  const marker = Buffer.from("\0depends=");
  const start = module.indexOf(marker);
  if (start < 0) return [];
  const from = start + marker.length;
  const text = module.toString("latin1", from, module.indexOf(0, from));
  return text === "" ? [] : text.split(",").map(canonical);
}

async function findModules(modulesDir: string): Promise<Map<string, string>> {
  const entries = await readdir(modulesDir, { recursive: true, withFileTypes: true });
  const modules = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".ko"));
  return new Map(modules.map((entry) => [canonical(entry.name.slice(0, -3)), join(entry.parentPath, entry.name)]));
}

async function readBuiltIn(modulesDir: string): Promise<Set<string>> {
  const text = await readFile(join(modulesDir, "modules.builtin"), "utf8");
  const names = text.split("\n").map((line) => line.slice(line.lastIndexOf("/") + 1).replace(/\.ko$/, ""));
  return new Set(names.filter((name) => name !== "").map(canonical));
}

/** The kernel treats - and _ in module names alike. */
function canonical(name: string): string {
  return name.replaceAll("-", "_");
}
