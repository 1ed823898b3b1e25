import { isJsonObject } from "@polyvirt/core";
import { architectures } from "./architecture.ts";
import type { Hypervisor } from "./contract.ts";
import { defineHypervisor } from "./define-hypervisor.ts";
import { errors } from "./errors.ts";

/** What a module out of tree gets, so that it needs nothing of Polyvirt at run time. */
export interface HypervisorToolkit {
  readonly defineHypervisor: typeof defineHypervisor;
}

/** Default export of a module out of tree. */
export type HypervisorModule = (toolkit: HypervisorToolkit) => Hypervisor;

/** The functions of each part, so that a module that lacks one is refused when it is loaded and not when it is used. */
const contract = {
  validator: ["validateVirtualMachineSpec", "validateVirtualMachineInstanceSpec", "validateHotplug"],
  defaults: ["applyToInstance", "applyToMachine"],
  converter: ["convert"],
  tuner: ["adjustResources", "handleHousekeeping"],
  capabilities: ["getHypervFeatures", "support"],
  resources: ["getMemoryOverhead", "deviceRequests"],
  node: [],
} as const satisfies { readonly [Part in keyof Hypervisor]?: readonly (keyof Hypervisor[Part])[] };

/**
 * Loads a hypervisor from an ES module, by path or package name. How modules are imported is the caller's: this package
 * does no I/O.
 */
export async function loadHypervisor(
  specifier: string,
  importModule: (specifier: string) => Promise<unknown>,
): Promise<Hypervisor> {
  const refuse = (why: string, cause?: unknown): Error =>
    errors.HypervisorContractBroken(`load hypervisor from ${specifier}: ${why}`, { cause, fields: { specifier } });
  const module = await importModule(specifier).catch((cause: unknown) => {
    throw refuse("the module cannot be imported", cause);
  });
  const make: unknown =
    typeof module === "object" && module !== null && "default" in module ? module.default : undefined;
  if (typeof make !== "function") throw refuse("its default export must be a function that returns the hypervisor");
  const toolkit: HypervisorToolkit = { defineHypervisor };
  let made: unknown;
  try {
    made = make(toolkit);
  } catch (cause) {
    throw refuse("its default export failed", cause);
  }
  return checkContract(made, refuse);
}

function checkContract(made: unknown, refuse: (why: string) => Error): Hypervisor {
  if (!isJsonObject(made) || typeof made["name"] !== "string") throw refuse("what it returns has no name");
  const problems = [...missingParts(made), ...wrongNode(made["node"])];
  if (!Array.isArray(made["aliases"])) problems.push("aliases");
  if (typeof made["withNode"] !== "function") problems.push("withNode()");
  if (problems.length > 0) throw refuse(`hypervisor ${made["name"]} lacks ${problems.join(", ")}`);
  // Everything is there; what it does is checked by the compiler and the tests of whoever wrote it.
  return made as unknown as Hypervisor;
}

function missingParts(made: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(contract).flatMap(([part, functions]) => {
    const value = made[part];
    if (!isJsonObject(value)) return [part];
    return functions.filter((name) => typeof value[name] !== "function").map((name) => `${part}.${name}()`);
  });
}

function wrongNode(node: unknown): string[] {
  if (!isJsonObject(node)) return [];
  const texts = ["hypervisorDevice", "virtType"].filter((name) => typeof node[name] !== "string" || node[name] === "");
  const { architectures: listed } = node;
  const known: readonly unknown[] = architectures;
  const isList = Array.isArray(listed) && listed.length > 0 && listed.every((name) => known.includes(name));
  return [...texts, ...(isList ? [] : ["architectures"])].map((name) => `node.${name}`);
}
