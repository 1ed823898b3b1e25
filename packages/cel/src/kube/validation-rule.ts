import { defaultCostLimit, type Program } from "../program.ts";
import { STRING, isDyn, optionalOf, type Type } from "../types.ts";
import { BOOL } from "../types.ts";
import type { TypeProvider } from "../type-provider.ts";
import { kubernetesEnvironment } from "./kubernetes-environment.ts";
import type { Environment } from "../environment.ts";

/** One entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined for an empty rule, and for one that does not compile. */
  readonly program: Program | undefined;
  readonly problem: string | undefined;
  readonly messageProgram: Program | undefined;
  readonly messageProblem: string | undefined;
  readonly usesOldSelf: boolean;
}

/** What a message may be at most. */
const maxMessageBytes = 5 * 1024;

/** Reads an entry of the schema; what is not a rule at all counts as an empty one. */
export function readRule(entry: unknown): ValidationRule {
  const source = typeof entry === "object" && entry !== null ? (entry as Readonly<Record<string, unknown>>) : {};
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    return typeof value === "string" ? value : undefined;
  };
  const [message, messageExpression] = [text("message"), text("messageExpression")];
  const [reason, fieldPath] = [text("reason"), text("fieldPath")];
  return {
    rule: text("rule") ?? "",
    ...(message === undefined ? {} : { message }),
    ...(messageExpression === undefined ? {} : { messageExpression }),
    ...(reason === undefined ? {} : { reason }),
    ...(fieldPath === undefined ? {} : { fieldPath }),
    optionalOldSelf: source["optionalOldSelf"] === true,
  };
}

/** The two environments of a schema node: a rule may ask for an `oldSelf` that is an optional. */
export function ruleEnvironments(type: Type, types: TypeProvider): (rule: ValidationRule) => Environment {
  const plain = kubernetesEnvironment({ variables: { self: type, oldSelf: type }, types: [types] });
  const optional = kubernetesEnvironment({ variables: { self: type, oldSelf: optionalOf(type) }, types: [types] });
  return (rule) => (rule.optionalOldSelf === true ? optional : plain);
}

export function compileRule(rule: ValidationRule, environment: Environment): CompiledRule {
  const none = { rule, program: undefined, messageProgram: undefined, messageProblem: undefined, usesOldSelf: false };
  if (rule.rule.trim() === "") return { ...none, problem: undefined };
  const compiled = environment.tryCompile(rule.rule);
  if (!compiled.ok) return { ...none, problem: `compilation failed: ${compiled.message}` };
  const { program } = compiled;
  if (program.type.kind !== BOOL.kind) return { ...none, problem: "cel expression must evaluate to a bool" };
  const message = compileMessage(rule, environment);
  return { rule, program, problem: undefined, usesOldSelf: program.variables.includes("oldSelf"), ...message };
}

function compileMessage(
  rule: ValidationRule,
  environment: Environment,
): Pick<CompiledRule, "messageProgram" | "messageProblem"> {
  const source = rule.messageExpression ?? "";
  if (source.trim() === "") return { messageProgram: undefined, messageProblem: undefined };
  const compiled = environment.tryCompile(source);
  const fail = (messageProblem: string) => ({ messageProgram: undefined, messageProblem });
  if (!compiled.ok) return fail(`messageExpression compilation failed: ${compiled.message}`);
  const { type } = compiled.program;
  if (type.kind !== STRING.kind || isDyn(type)) return fail("messageExpression must evaluate to a string");
  return { messageProgram: compiled.program, messageProblem: undefined };
}

/** How a rule is called in errors: by its message, or by itself. */
export function ruleName(rule: ValidationRule): string {
  return (rule.message ?? "").trim() === "" ? rule.rule.trim() : (rule.message ?? "").trim();
}

export function defaultMessage(rule: ValidationRule): string {
  return (rule.message ?? "") === "" ? `failed rule: ${ruleName(rule)}` : (rule.message ?? "").trim();
}

export type MessageResult =
  | { readonly ok: true; readonly message: string; readonly cost: number }
  /** `stop`: the budget is spent and nothing more may run. */
  | { readonly ok: false; readonly problem: string; readonly stop: boolean; readonly cost: number };

/** The text that a message expression makes; a message that is no good falls back to the default one. */
export function evaluateMessage(
  program: Program,
  bindings: Readonly<Record<string, unknown>>,
  budget: number,
): MessageResult {
  const result = program.run(bindings, { costLimit: defaultCostLimit });
  const { cost } = result;
  const fail = (problem: string, stop = false): MessageResult => ({ ok: false, problem, stop, cost });
  if (cost > budget) {
    return fail(
      "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
      true,
    );
  }
  if (!result.ok) {
    const quoted = JSON.stringify(program.source);
    return result.failure.kind === "cost"
      ? fail(
          `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quoted}`,
          true,
        )
      : fail(`messageExpression evaluation failed due to: ${result.failure.message}`);
  }
  if (typeof result.value !== "string") return fail("messageExpression failed to convert to string");
  const message = result.value.trim();
  if (new TextEncoder().encode(message).length > maxMessageBytes) {
    return fail(`messageExpression beyond allowable length of ${maxMessageBytes}`);
  }
  if (message.includes("\n")) return fail("messageExpression should not contain line breaks");
  if (message === "") return fail("messageExpression should evaluate to a non-empty string");
  return { ok: true, message, cost };
}
