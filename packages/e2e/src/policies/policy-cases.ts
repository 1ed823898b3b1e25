import { documentCases } from "./document-cases.ts";
import { invalidCases } from "./invalid-cases.ts";
import { mutatingCases } from "./mutating-cases.ts";
import type { PolicyCase } from "./policy-case.ts";
import { createRandom } from "./random.ts";
import { ruleCases } from "./rule-cases.ts";
import { validatingCases } from "./validating-cases.ts";

/** Policies, rules and objects, the same ones for the same seed. */
export function policyCases(seed: number): PolicyCase[] {
  return [
    ...documentCases,
    ...validatingCases(createRandom(seed)),
    ...invalidCases(),
    ...mutatingCases(createRandom(seed + 1)),
    ...ruleCases(createRandom(seed + 2)),
  ];
}
