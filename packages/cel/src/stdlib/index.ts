import type { FunctionDeclaration } from "../functions.ts";
import { arithmeticFunctions } from "./arithmetic.ts";
import { comparisonFunctions } from "./comparison.ts";
import { conversionFunctions } from "./conversion.ts";
import { stringFunctions } from "./strings.ts";
import { timeFunctions } from "./time.ts";

/** The functions and operators that every CEL has. */
export const standardFunctions: readonly FunctionDeclaration[] = [
  ...arithmeticFunctions,
  ...comparisonFunctions,
  ...conversionFunctions,
  ...stringFunctions,
  ...timeFunctions,
];
