/**
 * CEL, the expression language of Kubernetes: rules of CRDs, admission policies, plug-in conditions. Parser, type checker,
 * metered evaluator, the libraries of cel-go and Kubernetes, and a relaxed dialect that prints as strict CEL. Pure, also in
 * a browser; knows nothing about VMs, files or the network.
 *
 * Start with `environment.ts`: an `Environment` says what expressions may use and compiles them to a `Program`. Values are
 * explained in `values.ts`, the cost model in `cost-rules.ts`.
 */
export { Environment, type CompileOptions, type CompileResult, type EnvironmentOptions } from "./environment.ts";
export {
  Program,
  defaultCostLimit,
  type Bindings,
  type EvaluateOptions,
  type Evaluation,
  type EvaluationFailure,
} from "./program.ts";
export type { Dialect } from "./dialect.ts";
export { errorKinds } from "./errors.ts";
export type { Library } from "./library.ts";
export { renderIssues, type Issue, type Range } from "./source.ts";
export type { FieldInfo, TypeProvider } from "./type-provider.ts";
export * as types from "./types.ts";
export { formatType, type Type } from "./types.ts";
export { CelError, CelMap, CelObject, Double, Optional, StructValue, Uint, toJson, type Value } from "./values.ts";
export { encodersLibrary } from "./lib/encoders.ts";
export { listsLibrary } from "./lib/lists.ts";
export { bindingsLibrary, twoVariablesLibrary } from "./lib/macro-libraries.ts";
export { mathLibrary } from "./lib/math.ts";
export { optionalsLibrary } from "./lib/optionals.ts";
export { setsLibrary } from "./lib/sets.ts";
export { stringsLibrary } from "./lib/strings.ts";
