/**
 * CEL, the expression language of Kubernetes: rules of CRDs, admission policies, plug-in conditions. Parser, type checker,
 * metered evaluator, the libraries of cel-go and Kubernetes, and a relaxed dialect that prints as strict CEL. Pure, also in
 * a browser; knows nothing about VMs, files or the network.
 *
 * Start with `environment.ts`: an `Environment` says what expressions may use and compiles them to a `Program`. Values are
 * explained in `values.ts`, the cost model in `cost-rules.ts`, the relaxed dialect in `relaxed/relax.ts`. What an API server
 * needs is in `kube/`: `compileCrdRules`, `compileValidatingPolicy`, `compileMutatingPolicy`.
 */
export { Environment, type CompileOptions, type CompileResult, type EnvironmentOptions } from "./environment.ts";
export {
  defaultCostLimit,
  type Bindings,
  type EvaluateOptions,
  type Evaluation,
  type EvaluationFailure,
  type Program,
} from "./program.ts";
export type { Dialect } from "./dialect.ts";
export { errorKinds } from "./errors.ts";
export type { Library } from "./library.ts";
export { renderIssues, type Issue, type Range } from "./source.ts";
export type { FieldInfo, TypeProvider } from "./type-provider.ts";
export * as types from "./types.ts";
export { formatType, type Type } from "./types.ts";
export { CelMap, CelObject, Double, Optional, StructValue, Uint, toJson, type Value } from "./values.ts";
export { encodersLibrary } from "./lib/encoders.ts";
export { listsLibrary } from "./lib/lists.ts";
export { bindingsLibrary, twoVariablesLibrary } from "./lib/macro-libraries.ts";
export { mathLibrary } from "./lib/math.ts";
export { optionalsLibrary } from "./lib/optionals.ts";
export { setsLibrary } from "./lib/sets.ts";
export { stringsLibrary } from "./lib/strings.ts";
export type {
  AuthorizationDecision,
  AuthorizationQuestion,
  Authorizer,
  ResourceAttributes,
  User,
} from "./lib/kubernetes/authorizer.ts";
export { QUANTITY, toQuantity } from "./lib/kubernetes/quantity.ts";
export { SEMVER, normalizeSemver } from "./lib/kubernetes/semver.ts";
export { kubernetesEnvironment, type KubernetesEnvironmentOptions } from "./kube/kubernetes-environment.ts";
export { applyConfiguration, type ApplyOptions, type ApplyResult } from "./kube/apply-configuration.ts";
export { compileCrdRules, type CrdRuleResult, type CrdRules } from "./kube/crd-rules.ts";
export type { CrdRuleProblem } from "./kube/rule-problems.ts";
export type { FieldError } from "./kube/field-error.ts";
export {
  compileMutatingPolicy,
  type MutatingInput,
  type MutatingPolicy,
  type MutatingPolicyOptions,
  type MutatingPolicySpec,
  type MutatingResult,
} from "./kube/mutating-policy.ts";
export { mutationTypes } from "./kube/mutation-types.ts";
export { applyBinding, type BoundPolicy, type PolicyEffect, type ValidationAction } from "./kube/policy-binding.ts";
export { policyEnvironment, type PolicyEnvironmentOptions } from "./kube/policy-environment.ts";
export type { NamedExpression, PolicyInput } from "./kube/policy-expressions.ts";
export { SchemaTypes, type SchemaTypeOptions } from "./kube/schema-type.ts";
export { schemaAdapter } from "./kube/schema-value.ts";
export type { StructuralSchema } from "./kube/structural-schema.ts";
export {
  compileValidatingPolicy,
  type PolicyDecision,
  type PolicyProblem,
  type ValidatingPolicy,
  type ValidatingPolicySpec,
  type ValidatingResult,
} from "./kube/validating-policy.ts";
