import { BOOL } from "../types.ts";
import {
  Budget,
  matchConditionsCostBudget,
  type CompiledExpression,
  type NamedExpression,
  type PolicyCompiler,
  type PolicyEvaluator,
  type PolicyInput,
} from "./policy-expressions.ts";

export type FailurePolicy = "Fail" | "Ignore";

export type MatchResult =
  | { readonly kind: "match" }
  | { readonly kind: "no-match"; readonly condition?: string }
  | { readonly kind: "error"; readonly message: string };

export interface CompiledCondition extends CompiledExpression {
  readonly name: string;
}

/** Match conditions see everything but the variables of their policy. */
export function compileMatchConditions(
  conditions: readonly NamedExpression[],
  compiler: PolicyCompiler,
): CompiledCondition[] {
  return conditions.map(({ name, expression }) => ({
    name,
    ...compiler.compile(expression, [BOOL], { hasAuthorizer: true }),
  }));
}

/** Kubernetes declares `namespaceObject` for match conditions too, but it is always null there. */
export function withoutNamespace(input: PolicyInput): PolicyInput {
  const { namespaceObject: _, ...rest } = input;
  return rest;
}

/** One that is false settles it, whatever the others do; otherwise one that fails leaves it to the failure policy. */
export function evaluateMatchConditions(
  conditions: readonly CompiledCondition[],
  evaluator: PolicyEvaluator,
  failurePolicy: FailurePolicy,
): MatchResult {
  const budget = new Budget(matchConditionsCostBudget);
  const problems: string[] = [];
  for (const condition of conditions) {
    const result = evaluator.evaluate(condition, budget);
    if (result.kind === "value" && result.value === false) return { kind: "no-match", condition: condition.name };
    if (result.kind === "error") problems.push(result.message);
    if (result.kind === "exhausted") {
      return failurePolicy === "Fail" ? { kind: "error", message: result.message } : { kind: "no-match" };
    }
  }
  if (problems.length === 0) return { kind: "match" };
  if (failurePolicy === "Ignore") return { kind: "no-match" };
  const unique = [...new Set(problems)];
  return { kind: "error", message: unique.length === 1 ? (unique[0] ?? "") : `[${unique.join(", ")}]` };
}
