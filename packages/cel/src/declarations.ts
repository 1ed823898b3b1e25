import type { FunctionDeclaration } from "./functions.ts";
import type { TypeProvider } from "./type-provider.ts";
import type { Type } from "./types.ts";

/** What an expression may refer to. */
export interface Declarations {
  readonly container: string;
  readonly variables: ReadonlyMap<string, Type>;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly types: TypeProvider;
  /** The type that a name stands for where a value is expected, like `int` in `type(x) == int`. */
  findTypeName(name: string): Type | undefined;
}
