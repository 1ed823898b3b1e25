import { isJsonObject } from "@polyvirt/core";
import type { Hypervisor } from "./contract.ts";
import { defineHypervisor } from "./define-hypervisor.ts";
import { errors } from "./errors.ts";

/** What a module out of tree gets, so that it needs nothing of Polyvirt at run time. */
export interface HypervisorToolkit {
  readonly defineHypervisor: typeof defineHypervisor;
}

/** Default export of a module out of tree. */
export type HypervisorModule = (toolkit: HypervisorToolkit) => Hypervisor;

const parts = [
  "validator",
  "defaults",
  "converter",
  "tuner",
  "capabilities",
  "resources",
  "node",
] as const satisfies readonly (keyof Hypervisor)[];

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
  const missing = parts.filter((part) => !isJsonObject(made[part]));
  if (missing.length > 0) throw refuse(`hypervisor ${made["name"]} lacks ${missing.join(", ")}`);
  // Every part is there; what they contain is checked by the compiler of whoever wrote it.
  return made as unknown as Hypervisor;
}
