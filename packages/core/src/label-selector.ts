import { errors } from "./errors.ts";
import { checkLabelValue, checkQualifiedName } from "./names.ts";

export type SelectorOperator = "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";

export interface SelectorRequirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>> | undefined;

/** Reads the text form: `app=web, tier in (a, b), version notin (1), owner, !legacy, x!=y, n>3`. */
export function parseLabelSelector(text: string): SelectorRequirement[] {
  const tokens = tokenize(text);
  const requirements: SelectorRequirement[] = [];
  let at = 0;
  const fail = (why: string) =>
    errors.SelectorInvalid(`read label selector "${text}": ${why}`, { fields: { selector: text } });
  const valueList = (): string[] => {
    if (tokens[at++] !== "(") throw fail('expected "(" after in or notin');
    const values: string[] = [];
    // An element may be empty: `in (a,)` allows the empty value.
    for (let value = ""; ;) {
      const token = tokens[at++];
      if (token === undefined) throw fail('")" is missing');
      if (token === "," || token === ")") {
        values.push(value);
        value = "";
        if (token === ")") return values;
      } else if (isSymbol(token)) throw fail(`unexpected "${token}"`);
      else if (value !== "") throw fail(`unexpected "${token}"`);
      else value = token;
    }
  };
  const singleValue = (): string => {
    const token = tokens[at];
    if (token === undefined || token === ",") return "";
    if (isSymbol(token)) throw fail(`unexpected "${token}"`);
    at++;
    return token;
  };
  const requirement = (): SelectorRequirement => {
    const negated = tokens[at] === "!";
    if (negated) at++;
    const key = tokens[at++];
    if (key === undefined || isSymbol(key)) throw fail(`expected a label key, found "${key ?? "the end"}"`);
    const operator = tokens[at];
    if (negated) return { key, operator: "DoesNotExist", values: [] };
    if (operator === undefined || operator === ",") return { key, operator: "Exists", values: [] };
    at++;
    switch (operator) {
      case "=":
      case "==":
        return { key, operator: "In", values: [singleValue()] };
      case "!=":
        return { key, operator: "NotIn", values: [singleValue()] };
      case ">":
        return { key, operator: "Gt", values: [singleValue()] };
      case "<":
        return { key, operator: "Lt", values: [singleValue()] };
      case "in":
        return { key, operator: "In", values: valueList() };
      case "notin":
        return { key, operator: "NotIn", values: valueList() };
      default:
        throw fail(`unexpected "${operator}"`);
    }
  };
  while (at < tokens.length) {
    const next = requirement();
    const problem = checkRequirement(next);
    if (problem !== undefined) throw fail(problem);
    requirements.push(next);
    if (at < tokens.length && tokens[at++] !== ",") throw fail(`expected "," after ${next.key}`);
    else if (at === tokens.length && tokens[at - 1] === ",") throw fail('nothing follows the last ","');
  }
  return requirements;
}

function checkRequirement({ key, operator, values }: SelectorRequirement): string | undefined {
  const keyProblem = checkQualifiedName(key)[0];
  if (keyProblem !== undefined) return `key "${key}": ${keyProblem}`;
  if (operator === "Gt" || operator === "Lt") {
    return /^-?\d+$/.test(values[0] ?? "") ? undefined : `"${values[0]}" is not an integer`;
  }
  for (const value of values) {
    const problem = checkLabelValue(value)[0];
    if (problem !== undefined) return `value "${value}": ${problem}`;
  }
  return undefined;
}

const SYMBOLS = new Set(["(", ")", ",", "!", "=", "==", "!=", ">", "<"]);

function isSymbol(token: string): boolean {
  return SYMBOLS.has(token);
}

function tokenize(text: string): string[] {
  return text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
}

/** All requirements must hold; none at all selects everything. */
export function matchesRequirements(requirements: readonly SelectorRequirement[], labels: Labels): boolean {
  return requirements.every((requirement) => matchesRequirement(requirement, labels));
}

type Match = (value: string | undefined, wanted: readonly string[]) => boolean;

const matchers: Readonly<Record<SelectorOperator, Match>> = {
  In: (value, wanted) => value !== undefined && wanted.includes(value),
  NotIn: (value, wanted) => value === undefined || !wanted.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
  Gt: (value, wanted) => compareIntegers(value, wanted[0]) === 1,
  Lt: (value, wanted) => compareIntegers(value, wanted[0]) === -1,
};

function matchesRequirement({ key, operator, values }: SelectorRequirement, labels: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  return matchers[operator](value, values);
}

/** Undefined when one of them is not an integer. */
function compareIntegers(left: string | undefined, right: string | undefined): -1 | 0 | 1 | undefined {
  if (left === undefined || right === undefined || !/^-?\d+$/.test(left) || !/^-?\d+$/.test(right)) return undefined;
  const difference = BigInt(left) - BigInt(right);
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

/** The object form in specs (`matchLabels`, `matchExpressions`). */
interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Requirements of the object form. A missing selector selects nothing: ask for `undefined` before calling. */
export function requirementsOf(selector: LabelSelectorObject): SelectorRequirement[] {
  const requirements: SelectorRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: "In",
    values: [value],
  }));
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    if (!isOperator(operator)) {
      throw errors.SelectorInvalid(`read label selector: "${operator}" is not a valid operator for key "${key}"`);
    }
    requirements.push({ key, operator, values: values ?? [] });
  }
  return requirements;
}

function isOperator(text: string): text is SelectorOperator {
  return Object.hasOwn(matchers, text);
}

/** Whether the object form selects these labels; a missing selector selects nothing. */
export function matchesLabelSelector(selector: LabelSelectorObject | undefined, labels: Labels): boolean {
  return selector !== undefined && matchesRequirements(requirementsOf(selector), labels);
}

const formats: Readonly<Record<SelectorOperator, (key: string, values: readonly string[]) => string>> = {
  In: (key, values) => (values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`),
  NotIn: (key, values) => (values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(",")})`),
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
  Gt: (key, values) => `${key}>${values[0]}`,
  Lt: (key, values) => `${key}<${values[0]}`,
};

/** The text form, as it is sent in a query. */
export function formatLabelSelector(requirements: readonly SelectorRequirement[]): string {
  return requirements.map(({ key, operator, values }) => formats[operator](key, values)).join(",");
}
