import type { FunctionDeclaration } from "./functions.ts";
import type { macroGroups } from "./macros.ts";
import type { Type } from "./types.ts";

/** Functions, macros and types that belong together and that an environment may have. */
export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: keyof typeof macroGroups;
  /** Types that can be named in expressions. */
  readonly types?: Readonly<Record<string, Type>>;
}
