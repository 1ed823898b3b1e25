import { normalizeFieldPath } from "./rule-field-path.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import type { CompiledRule, ValidationRule } from "./validation-rule.ts";

/** Why a CRD with a rule is refused. */
export interface CrdRuleProblem {
  /** Where in the schema, for example `properties[spec].x-kubernetes-validations[0].rule`. */
  readonly schemaPath: string;
  readonly detail: string;
  /** Which error a CRD with it is answered with, and how it is put. */
  readonly reason: keyof typeof titles;
  readonly message: string;
}

const titles = {
  FieldValueInvalid: "Invalid value",
  FieldValueForbidden: "Forbidden",
  FieldValueRequired: "Required value",
  FieldValueNotSupported: "Unsupported value",
} as const;

/** `shown` is the value as JSON, for the errors that show it. */
export function crdRuleProblem(
  schemaPath: string,
  reason: keyof typeof titles,
  detail: string,
  shown?: string,
): CrdRuleProblem {
  const message = [titles[reason], ...(shown === undefined ? [] : [shown]), detail].join(": ");
  return { schemaPath, detail, reason, message };
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** What is wrong with the texts of a rule, whatever its expressions mean. */
export function textProblems(rule: ValidationRule, schema: StructuralSchema, place: string): CrdRuleProblem[] {
  const { message = "", messageExpression = "", reason, fieldPath } = rule;
  const invalid = (field: string, value: string, detail: string): CrdRuleProblem =>
    crdRuleProblem(`${place}.${field}`, "FieldValueInvalid", detail, JSON.stringify(value));
  const required = (field: string, detail: string): CrdRuleProblem =>
    crdRuleProblem(`${place}.${field}`, "FieldValueRequired", detail);
  const found: CrdRuleProblem[] = [];
  if (rule.rule.trim() === "") found.push(required("rule", "rule is not specified"));
  else if (message !== "" && message.trim() === "")
    found.push(invalid("message", message, "must be non-empty if specified"));
  else if (message.trim().includes("\n")) found.push(invalid("message", message, "must not contain line breaks"));
  else if (rule.rule.trim().includes("\n") && message === "")
    found.push(required("message", "message must be specified if rule contains line breaks"));
  if (messageExpression !== "" && messageExpression.trim() === "")
    found.push(required("messageExpression", "messageExpression must be non-empty if specified"));
  if (reason !== undefined && !reasons.includes(reason)) {
    const supported = `supported values: ${reasons.map((known) => JSON.stringify(known)).join(", ")}`;
    found.push(crdRuleProblem(`${place}.reason`, "FieldValueNotSupported", supported, JSON.stringify(reason)));
  }
  if (fieldPath !== undefined && fieldPath !== "" && normalizeFieldPath(fieldPath, schema) === undefined)
    found.push(invalid("fieldPath", fieldPath, "must be a valid path"));
  return found;
}

/** What is wrong with the expressions of a rule; `uncorrelated` is the place whose old elements cannot be told apart. */
export function expressionProblems(
  compiled: CompiledRule,
  place: string,
  uncorrelated: string | undefined,
): CrdRuleProblem[] {
  const { rule, problem, messageProblem, usesOldSelf, program } = compiled;
  const invalid = (field: string, detail: string, shown: string): CrdRuleProblem =>
    crdRuleProblem(`${place}.${field}`, "FieldValueInvalid", detail, shown);
  const found: CrdRuleProblem[] = [];
  if (problem !== undefined) found.push(invalid("rule", problem, asStored(rule)));
  if (messageProblem !== undefined) found.push(invalid("messageExpression", messageProblem, asStored(rule)));
  if (usesOldSelf && uncorrelated !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
    found.push(invalid("rule", detail, JSON.stringify(rule.rule)));
  }
  if (program !== undefined && rule.optionalOldSelf === true && !usesOldSelf)
    found.push(invalid("optionalOldSelf", "may not be set if oldSelf is not used in rule", "true"));
  return found;
}

/** A rule the way Kubernetes shows it: its internal fields as Go writes JSON. */
function asStored({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: ValidationRule): string {
  const stored = {
    Rule: rule,
    Message: message ?? "",
    MessageExpression: messageExpression ?? "",
    Reason: reason ?? null,
    FieldPath: fieldPath ?? "",
    OptionalOldSelf: optionalOldSelf === true ? true : null,
  };
  return JSON.stringify(stored).replaceAll(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}
