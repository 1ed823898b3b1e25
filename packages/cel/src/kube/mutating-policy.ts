import { isJsonObject, type JsonObject } from "@polyvirt/core";
import type { Dialect } from "../dialect.ts";
import { listOf } from "../types.ts";
import { StructValue, toJson, type Value } from "../values.ts";
import { applyConfiguration, type ApplyOptions } from "./apply-configuration.ts";
import { applyKubernetesPatch, type PatchOperation } from "./apply-kubernetes-patch.ts";
import {
  compileMatchConditions,
  evaluateMatchConditions,
  withoutNamespace,
  type FailurePolicy,
} from "./match-conditions.ts";
import { JSON_PATCH, OBJECT, typeNameProblems } from "./mutation-types.ts";
import {
  Budget,
  PolicyCompiler,
  policyCostBudget,
  type CompiledExpression,
  type NamedExpression,
  type PolicyInput,
} from "./policy-expressions.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import type { PolicyProblem } from "./validating-policy.ts";

/** The part of a MutatingAdmissionPolicy's spec that is evaluated. */
export interface MutatingPolicySpec {
  readonly paramKind?: unknown;
  readonly failurePolicy?: FailurePolicy;
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
  readonly mutations?: readonly {
    readonly patchType: string;
    readonly applyConfiguration?: { readonly expression: string };
    readonly jsonPatch?: { readonly expression: string };
  }[];
}

export interface MutatingPolicyOptions extends Partial<ApplyOptions> {
  readonly dialect?: Dialect;
}

export interface MutatingInput extends PolicyInput {
  readonly object: unknown;
  /** Says how lists and maps of the object merge. */
  readonly schema?: StructuralSchema;
}

export interface MutatingResult {
  readonly matched: boolean;
  /** The object after all mutations that succeeded. */
  readonly object: JsonObject;
  /** Whether it differs from the input: then policies before this one may have to run again. */
  readonly changed: boolean;
  /** What failed; with the failure policy Ignore nobody needs to care. */
  readonly errors: readonly string[];
  /** Whether the errors refuse the request. */
  readonly denied: boolean;
}

export interface MutatingPolicy {
  readonly problems: readonly PolicyProblem[];
  /** May run again when a later one changed the object. */
  readonly reinvocable: boolean;
  evaluate(input: MutatingInput): MutatingResult;
}

type Outcome = { readonly object: JsonObject } | { readonly problem: string };

interface Mutation {
  readonly field: string;
  readonly compiled: CompiledExpression;
  readonly patch: (object: JsonObject, value: Value, schema: StructuralSchema | undefined) => Outcome;
}

export function compileMutatingPolicy(spec: MutatingPolicySpec, options: MutatingPolicyOptions = {}): MutatingPolicy {
  const { dialect, atomics = "refuse" } = options;
  const compiler = new PolicyCompiler(spec.variables ?? [], {
    hasParams: spec.paramKind !== undefined,
    mutations: true,
    ...(dialect === undefined ? {} : { dialect }),
  });
  const conditions = compileMatchConditions(spec.matchConditions ?? [], compiler);
  const mutations = (spec.mutations ?? []).map((mutation, index) =>
    compileMutation(compiler, mutation, index, { atomics }),
  );
  const failurePolicy = spec.failurePolicy ?? "Fail";
  return {
    reinvocable: spec.reinvocationPolicy === "IfNeeded",
    problems: [
      ...conditions.flatMap(({ problem }, index) =>
        problem === undefined ? [] : [{ field: `spec.matchConditions[${index}].expression`, message: problem }],
      ),
      ...[...compiler.variables.values()].flatMap(({ problem }, index) =>
        problem === undefined ? [] : [{ field: `spec.variables[${index}].expression`, message: problem }],
      ),
      ...mutations.flatMap(({ field, compiled: { problem } }) =>
        problem === undefined ? [] : [{ field, message: problem }],
      ),
    ],
    evaluate(input) {
      const start = asObject(input.object);
      const untouched = { object: start, changed: false };
      const match = evaluateMatchConditions(conditions, compiler.evaluator(withoutNamespace(input)), failurePolicy);
      if (match.kind === "no-match") return { ...untouched, matched: false, errors: [], denied: false };
      if (match.kind === "error") {
        return { ...untouched, matched: true, errors: [match.message], denied: failurePolicy === "Fail" };
      }
      const errors: string[] = [];
      let object = start;
      for (const mutation of mutations) {
        const outcome = runMutation(compiler, mutation, { ...input, object });
        if ("problem" in outcome) errors.push(outcome.problem);
        else object = outcome.object;
      }
      const denied = errors.length > 0 && failurePolicy === "Fail";
      return { matched: true, object, changed: object !== start, errors, denied };
    },
  };
}

function asObject(value: unknown): JsonObject {
  // Admission only mutates objects; anything else has no fields to change.
  return isJsonObject(value) ? value : {};
}

function runMutation(compiler: PolicyCompiler, { compiled, patch }: Mutation, input: MutatingInput): Outcome {
  // Later mutations see what earlier ones did, and so do the variables.
  const result = compiler.evaluator(input).evaluate(compiled, new Budget(policyCostBudget));
  if (result.kind !== "value") return { problem: result.message };
  return patch(asObject(input.object), result.value, input.schema);
}

function compileMutation(
  compiler: PolicyCompiler,
  mutation: NonNullable<MutatingPolicySpec["mutations"]>[number],
  index: number,
  options: ApplyOptions,
): Mutation {
  const scope = { hasAuthorizer: true };
  if (mutation.patchType === "JSONPatch") {
    const compiled = compiler.compile(mutation.jsonPatch?.expression ?? "", [listOf(JSON_PATCH)], scope);
    return { field: `spec.mutations[${index}].jsonPatch.expression`, compiled, patch: patchByOperations };
  }
  const compiled = compiler.compile(mutation.applyConfiguration?.expression ?? "", [OBJECT], scope);
  const field = `spec.mutations[${index}].applyConfiguration.expression`;
  return { field, compiled, patch: (object, value, schema) => patchByConfiguration(object, value, schema, options) };
}

function patchByConfiguration(
  object: JsonObject,
  value: Value,
  schema: StructuralSchema | undefined,
  options: ApplyOptions,
): Outcome {
  const problems = typeNameProblems(value);
  if (problems.length > 0) return { problem: `type mismatch: ${problems.join("\n")}` };
  // An `Object{…}` becomes a JSON object.
  const applied = applyConfiguration(object, toJson(value) as JsonObject, schema, options);
  return applied.ok ? applied : { problem: `error applying patch: ${applied.problem}` };
}

function patchByOperations(object: JsonObject, value: Value): Outcome {
  if (!Array.isArray(value)) return { problem: "type mismatch: JSONPatchType.expression should evaluate to array" };
  const operations: PatchOperation[] = [];
  for (const item of value as readonly Value[]) {
    if (!(item instanceof StructValue) || item.typeName !== "JSONPatch") {
      return { problem: "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch" };
    }
    const content = item.fields.get("value");
    const problems = content instanceof StructValue ? typeNameProblems(content, content.typeName) : [];
    if (problems.length > 0) return { problem: `type mismatch: ${problems.join("\n")}` };
    // A `JSONPatch{…}` has these fields; what they hold is looked at when they are applied.
    operations.push(toJson(item) as PatchOperation);
  }
  const patched = applyKubernetesPatch(object, operations);
  if (patched.ok) return patched;
  return patched.problem === undefined ? { object } : { problem: `JSON Patch: ${patched.problem}` };
}
