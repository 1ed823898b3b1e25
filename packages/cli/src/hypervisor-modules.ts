import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadHypervisor, registry, type HypervisorRegistry } from "@polyvirt/hypervisor";

/** The hypervisors that come with Polyvirt and those of ES modules, each named by path or package. */
export async function knownHypervisors(modules: readonly string[]): Promise<HypervisorRegistry> {
  const loaded = [];
  for (const module of modules) loaded.push(await loadHypervisor(module, importModule));
  return registry.with(...loaded);
}

/** A path counts from the working directory; a package is looked for there and beside this program. */
async function importModule(specifier: string): Promise<unknown> {
  if (/^\.{0,2}\//.test(specifier)) return await import(pathToFileURL(resolve(specifier)).href);
  return await import(findPackage(specifier));
}

function findPackage(name: string): string {
  try {
    return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href;
  } catch {
    return name;
  }
}
