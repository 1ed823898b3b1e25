import { mutatingCases } from "./mutating-cases.ts";
import type { PolicyCase } from "./policy-case.ts";
import { createRandom } from "./random.ts";
import { validatingCases } from "./validating-cases.ts";

/** Policies, rules and objects, the same ones for the same seed. */
export function policyCases(seed: number): PolicyCase[] {
  return [...validatingCases(createRandom(seed)), ...mutatingCases(createRandom(seed + 1))];
}

export { askCases } from "./ask-cases.ts";
export { differences, tally } from "./compare-answers.ts";
