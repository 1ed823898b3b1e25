import type { Library } from "../library.ts";

/** `all(i, v, …)`, `transformMap(k, v, …)` and so on. */
export const twoVariablesLibrary: Library = { name: "two-variable comprehensions", macros: "twoVariables" };
/** `cel.bind(name, value, expression)`; Kubernetes does not have it. */
export const bindingsLibrary: Library = { name: "bindings", macros: "bindings" };
/** `cel.block([…], expression)`: what optimizers write. */
export const blocksLibrary: Library = { name: "blocks", macros: "blocks" };
