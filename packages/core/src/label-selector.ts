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
  try {
    return new SelectorParser(text).parse();
  } catch (error) {
    if (!(error instanceof SelectorMistake)) throw error;
    const why = error.message;
    throw errors.SelectorInvalid(`read label selector "${text}": ${why}`, { fields: { selector: text, why } });
  }
}

/** What is wrong with a text, in Kubernetes' words. */
class SelectorMistake extends Error {}

/** The end of the text is an empty token, which no text has otherwise. */
const END = "";
const operators: Readonly<Record<string, SelectorOperator>> = {
  in: "In",
  notin: "NotIn",
  "=": "In",
  "==": "In",
  "!=": "NotIn",
  ">": "Gt",
  "<": "Lt",
};
const symbols = new Set(["(", ")", ",", "!", "=", "==", "!=", ">", "<", END]);
const isIdentifier = (token: string): boolean => !symbols.has(token);

class SelectorParser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
  }

  parse(): SelectorRequirement[] {
    const requirements: SelectorRequirement[] = [];
    if (this.#peek() === END) return requirements;
    if (!this.#beginsRequirement()) throw this.#unexpected("!, identifier, or 'end of string'");
    for (;;) {
      requirements.push(this.#requirement());
      if (this.#peek() === END) return requirements;
      if (this.#peek() !== ",") throw this.#unexpected("',' or 'end of string'");
      this.#take();
      if (!this.#beginsRequirement()) throw this.#unexpected("identifier after ','");
    }
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? END;
  }

  #beginsRequirement(): boolean {
    return this.#peek() === "!" || isIdentifier(this.#peek());
  }

  #take(): string {
    return this.#tokens[this.#at++] ?? END;
  }

  #unexpected(expected: string): SelectorMistake {
    return new SelectorMistake(`found '${this.#peek()}', expected: ${expected}`);
  }

  #requirement(): SelectorRequirement {
    try {
      return this.#readRequirement();
    } catch (error) {
      throw error instanceof SelectorMistake
        ? new SelectorMistake(`unable to parse requirement: ${error.message}`)
        : error;
    }
  }

  #readRequirement(): SelectorRequirement {
    const negated = this.#peek() === "!";
    if (negated) this.#take();
    if (!isIdentifier(this.#peek())) throw this.#unexpected("identifier");
    const key = this.#take();
    checkKey(key);
    if (negated) return { key, operator: "DoesNotExist", values: [] };
    if (this.#peek() === END || this.#peek() === ",") return { key, operator: "Exists", values: [] };
    if (!Object.hasOwn(operators, this.#peek())) throw this.#unexpected("in, notin, =, ==, !=, gt, lt");
    const sign = this.#take();
    // hasOwn said that it is there.
    const operator = operators[sign] as SelectorOperator;
    const values = sign === "in" || sign === "notin" ? this.#valueList() : [this.#singleValue()];
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  #singleValue(): string {
    if (this.#peek() === END || this.#peek() === ",") return "";
    if (!isIdentifier(this.#peek())) throw this.#unexpected("identifier");
    return this.#take();
  }

  /** An element may be empty: `in (a,)` allows the empty value. */
  #valueList(): string[] {
    if (this.#peek() !== "(") throw new SelectorMistake(`found '${this.#peek()}' expected: '('`);
    this.#take();
    const values: string[] = [];
    for (;;) {
      values.push(isIdentifier(this.#peek()) ? this.#take() : "");
      if (this.#peek() !== "," && this.#peek() !== ")") throw this.#unexpected("',' or ')'");
      if (this.#take() === ")") return values;
    }
  }
}

function checkKey(key: string): void {
  const problems = checkQualifiedName(key);
  if (problems.length > 0) throw invalidValue("<nil>", key, problems.join("; "));
}

function checkValues(key: string, operator: SelectorOperator, values: readonly string[]): void {
  values.forEach((value, index) => {
    const place = `values[${index}]`;
    const problems = checkLabelValue(value);
    if (problems.length > 0) throw invalidValue(`${place}[${key}]`, value, problems.join("; "));
    if ((operator === "Gt" || operator === "Lt") && !/^-?\d+$/.test(value))
      throw invalidValue(place, value, "for 'Gt', 'Lt' operators, the value must be an integer");
  });
}

const invalidValue = (place: string, value: string, why: string): SelectorMistake =>
  new SelectorMistake(`${place}: Invalid value: ${JSON.stringify(value)}: ${why}`);

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
