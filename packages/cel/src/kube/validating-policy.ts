import type { Dialect } from "../dialect.ts";
import { BOOL, NULL, STRING } from "../types.ts";
import type { Value } from "../values.ts";
import {
  compileMatchConditions,
  evaluateMatchConditions,
  withoutNamespace,
  type CompiledCondition,
  type FailurePolicy,
} from "./match-conditions.ts";
import {
  Budget,
  PolicyCompiler,
  policyCostBudget,
  type CompiledExpression,
  type ExpressionResult,
  type NamedExpression,
  type PolicyEvaluator,
  type PolicyInput,
} from "./policy-expressions.ts";

/** The part of a ValidatingAdmissionPolicy's spec that is evaluated. */
export interface ValidatingPolicySpec {
  readonly paramKind?: unknown;
  readonly failurePolicy?: FailurePolicy;
  readonly matchConditions?: readonly NamedExpression[];
  readonly variables?: readonly NamedExpression[];
  readonly validations?: readonly {
    readonly expression: string;
    readonly message?: string;
    readonly messageExpression?: string;
    readonly reason?: string;
  }[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
}

export interface PolicyDecision {
  readonly action: "Admit" | "Deny";
  /** Which validation; undefined when the policy as a whole could not be evaluated. */
  readonly index?: number;
  /** An audit annotation that failed, which denies whatever the binding says. */
  readonly annotation?: true;
  /** The expression could not be evaluated; the failure policy decided. */
  readonly failed: boolean;
  readonly message: string;
  /** The reason of the status that a denial answers with. */
  readonly reason: string;
}

export interface ValidatingResult {
  /** False when a match condition excluded the request; there are no decisions then. */
  readonly matched: boolean;
  readonly decisions: readonly PolicyDecision[];
  readonly auditAnnotations: readonly { readonly key: string; readonly value: string }[];
}

export interface PolicyProblem {
  /** For example `spec.validations[0].expression`. */
  readonly field: string;
  readonly message: string;
}

export interface ValidatingPolicy {
  /** What keeps the policy from being stored. */
  readonly problems: readonly PolicyProblem[];
  evaluate(input: PolicyInput): ValidatingResult;
}

interface CompiledValidation {
  readonly condition: CompiledExpression;
  readonly messageExpression: CompiledExpression | undefined;
  readonly message: string;
  readonly reason: string;
}

const maxMessageBytes = 5 * 1024;
const maxAnnotationLength = 10 * 1024;

export function compileValidatingPolicy(
  spec: ValidatingPolicySpec,
  options: { readonly dialect?: Dialect } = {},
): ValidatingPolicy {
  const compiler = new PolicyCompiler(spec.variables ?? [], {
    hasParams: spec.paramKind !== undefined,
    mutations: false,
    ...options,
  });
  const conditions = compileMatchConditions(spec.matchConditions ?? [], compiler);
  const validations = (spec.validations ?? []).map((validation): CompiledValidation => ({
    condition: compiler.compile(validation.expression, [BOOL], { hasAuthorizer: true }),
    messageExpression:
      (validation.messageExpression ?? "") === ""
        ? undefined
        : compiler.compile(validation.messageExpression ?? "", [STRING], { hasAuthorizer: false }),
    message: validation.message ?? "",
    reason: validation.reason ?? "Invalid",
  }));
  const annotations = (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
    key,
    value: compiler.compile(valueExpression, [STRING, NULL], { hasAuthorizer: true }),
  }));
  const failurePolicy = spec.failurePolicy ?? "Fail";
  return {
    problems: collectProblems(compiler, conditions, validations, annotations),
    evaluate(input) {
      const evaluator = compiler.evaluator(input);
      const match = evaluateMatchConditions(conditions, compiler.evaluator(withoutNamespace(input)), failurePolicy);
      if (match.kind === "no-match") return { matched: false, decisions: [], auditAnnotations: [] };
      if (match.kind === "error") return failure(failurePolicy, match.message);
      const budget = new Budget(policyCostBudget);
      const decisions: PolicyDecision[] = [];
      const results = validations.map(({ condition }) => evaluator.evaluate(condition, budget));
      const stopped = results.find((result) => result.kind === "exhausted");
      if (stopped !== undefined) return failure(failurePolicy, stopped.message);
      results.forEach((result, index) => {
        const validation = validations[index];
        if (validation === undefined) return;
        decisions.push(decide(result, validation, { index, evaluator, budget, failurePolicy }));
      });
      return annotate({ evaluator, failurePolicy, annotations, decisions });
    },
  };
}

function failure(failurePolicy: FailurePolicy, message: string): ValidatingResult {
  return { matched: true, decisions: [failed(failurePolicy, message)], auditAnnotations: [] };
}

function failed(failurePolicy: FailurePolicy, message: string, index?: number): PolicyDecision {
  const decision: PolicyDecision = {
    action: failurePolicy === "Ignore" ? "Admit" : "Deny",
    failed: true,
    message,
    reason: "Invalid",
  };
  return index === undefined ? decision : { ...decision, index };
}

interface DecisionContext {
  readonly index: number;
  readonly evaluator: PolicyEvaluator;
  readonly budget: Budget;
  readonly failurePolicy: FailurePolicy;
}

function decide(result: ExpressionResult, validation: CompiledValidation, context: DecisionContext): PolicyDecision {
  const { index, evaluator, budget, failurePolicy } = context;
  if (result.kind !== "value") return failed(failurePolicy, result.message, index);
  if (result.value === true) return { action: "Admit", index, failed: false, message: "", reason: "" };
  const { messageExpression } = validation;
  const message = messageExpression === undefined ? undefined : evaluator.evaluate(messageExpression, budget);
  if (message?.kind === "exhausted")
    return failed(failurePolicy, `failed messageExpression: ${message.message}`, index);
  const composed = message?.kind === "value" ? usableMessage(message.value) : "";
  const text = composed || validation.message.trim() || `failed expression: ${validation.condition.expression.trim()}`;
  return { action: "Deny", index, failed: false, message: text, reason: validation.reason };
}

/** What a message expression made, unless it is too long or has several lines. */
function usableMessage(value: Value): string {
  if (typeof value !== "string") return "";
  const text = value.trim();
  return new TextEncoder().encode(text).length > maxMessageBytes || text.includes("\n") ? "" : text;
}

interface AnnotationContext {
  readonly evaluator: PolicyEvaluator;
  readonly failurePolicy: FailurePolicy;
  readonly annotations: readonly { readonly key: string; readonly value: CompiledExpression }[];
  readonly decisions: readonly PolicyDecision[];
}

/** Adds the audit annotations; one that fails denies the request when the failure policy is Fail. */
function annotate({ evaluator, failurePolicy, annotations, decisions }: AnnotationContext): ValidatingResult {
  const budget = new Budget(policyCostBudget);
  const published: { key: string; value: string }[] = [];
  const errors: PolicyDecision[] = [];
  for (const { key, value } of annotations) {
    const result = evaluator.evaluate(value, budget);
    if (result.kind === "exhausted") return failure(failurePolicy, result.message);
    if (result.kind === "error") {
      if (failurePolicy === "Fail") errors.push({ ...failed("Fail", result.message), annotation: true });
    } else if (typeof result.value === "string") {
      const text = result.value.trim().slice(0, maxAnnotationLength);
      if (text !== "") published.push({ key, value: text });
    } else if (result.value !== null) {
      const problem = `valueExpression '${value.expression}' resulted in unsupported return type. Return type must be either string or null.`;
      errors.push({ ...failed("Fail", problem), annotation: true });
    }
  }
  return { matched: true, decisions: [...decisions, ...errors], auditAnnotations: published };
}

function collectProblems(
  compiler: PolicyCompiler,
  conditions: readonly CompiledCondition[],
  validations: readonly CompiledValidation[],
  annotations: readonly { readonly value: CompiledExpression }[],
): PolicyProblem[] {
  const problem = (field: string, compiled: CompiledExpression | undefined): PolicyProblem[] =>
    compiled?.problem === undefined ? [] : [{ field, message: compiled.problem }];
  return [
    ...[...compiler.variables.values()].flatMap((variable, index) =>
      problem(`spec.variables[${index}].expression`, variable),
    ),
    ...conditions.flatMap((condition, index) => problem(`spec.matchConditions[${index}].expression`, condition)),
    ...validations.flatMap(({ condition, messageExpression }, index) => [
      ...problem(`spec.validations[${index}].expression`, condition),
      ...problem(`spec.validations[${index}].messageExpression`, messageExpression),
    ]),
    ...annotations.flatMap(({ value }, index) => problem(`spec.auditAnnotations[${index}].valueExpression`, value)),
  ];
}
