import { prices, sizeOf } from "../../cost-rules.ts";
import { args, declare, global, member, type FunctionDeclaration } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { parseTimestamp } from "../../time.ts";
import { STRING, listOf, opaque, optionalOf, type Type } from "../../types.ts";
import { CelObject, Optional, type Value } from "../../values.ts";
import { urlProblem } from "./url.ts";

const FORMAT: Type = opaque("kubernetes.NamedFormat");

interface Rules {
  readonly problems: (text: string) => readonly string[];
  /** How long the regular expression behind it is taken to be, for its cost. */
  readonly patternSize: number;
}

class FormatValue extends CelObject {
  readonly format: string;
  readonly rules: Rules;

  constructor(format: string, rules: Rules) {
    super();
    this.format = format;
    this.rules = rules;
  }

  get typeName(): string {
    return "kubernetes.NamedFormat";
  }

  override equals(other: Value): boolean {
    return other instanceof FormatValue && other.format === this.format;
  }
}

interface NameRule {
  readonly pattern: string;
  readonly maxLength: number;
  readonly message: string;
  readonly examples: readonly string[];
}

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain: NameRule = {
  pattern: `${label}(\\.${label})*`,
  maxLength: 253,
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ["example.com"],
};
const dns1123: NameRule = {
  pattern: label,
  maxLength: 63,
  message:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ["my-name", "123-abc"],
};
const dns1035: NameRule = {
  pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
  maxLength: 63,
  message:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ["my-name", "abc-123"],
};
const qualified: NameRule = {
  pattern: "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
  maxLength: 63,
  message:
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ["MyName", "my.name", "123-abc"],
};
const labelValue: NameRule = {
  pattern: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
  maxLength: 63,
  message:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ["MyValue", "my_value", "12345"],
};

/** Kubernetes writes its examples with two blanks before "or". */
function explain({ message, examples, pattern }: NameRule): string {
  const list = examples.map((example) => `'${example}'`).join(",  or ");
  return `${message} (e.g. ${list}, regex used for validation is '${pattern}')`;
}

/** Untrusted text meets these patterns only after its length was checked, so that they stay cheap. */
function nameProblems(rule: NameRule, text: string): string[] {
  if (text.length > rule.maxLength) return [`must be no more than ${rule.maxLength} characters`];
  return new RegExp(`^${rule.pattern}$`).test(text) ? [] : [explain(rule)];
}

const named =
  (rule: NameRule) =>
  (text: string): string[] =>
    nameProblems(rule, text);

/** A prefix may end in a dash, where a generated name will go on. */
const prefixOf =
  (rule: NameRule) =>
  (text: string): string[] =>
    nameProblems(rule, text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);

function qualifiedNameProblems(text: string): string[] {
  const parts = text.split("/");
  const nameRule = { ...qualified, message: `name part ${qualified.message}` };
  if (parts.length > 2) {
    const rule = { ...qualified, message: `a qualified name ${qualified.message}` };
    return [`${explain(rule)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const [prefix, name = ""] = parts.length === 2 ? parts : [undefined, parts[0]];
  const problems: string[] = [];
  if (prefix === "") problems.push("prefix part must be non-empty");
  else if (prefix !== undefined) {
    problems.push(...nameProblems(subdomain, prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > qualified.maxLength) problems.push("name part must be no more than 63 characters");
  if (!new RegExp(`^${qualified.pattern}$`).test(name.slice(0, 256))) problems.push(explain(nameRule));
  return problems;
}

const expecting =
  (isValid: (text: string) => boolean, problem: string) =>
  (text: string): string[] =>
    isValid(text) ? [] : [problem];

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined;

const formats: Readonly<Record<string, Rules>> = {
  dns1123Label: { problems: named(dns1123), patternSize: 30 },
  dns1123Subdomain: { problems: named(subdomain), patternSize: 60 },
  dns1035Label: { problems: named(dns1035), patternSize: 30 },
  qualifiedName: { problems: qualifiedNameProblems, patternSize: 60 },
  dns1123LabelPrefix: { problems: prefixOf(dns1123), patternSize: 30 },
  dns1123SubdomainPrefix: { problems: prefixOf(subdomain), patternSize: 60 },
  dns1035LabelPrefix: { problems: prefixOf(dns1035), patternSize: 30 },
  labelValue: { problems: named(labelValue), patternSize: 40 },
  uri: {
    problems: (text) => {
      const problem = urlProblem(text);
      return problem === undefined ? [] : [problem];
    },
    patternSize: 1103,
  },
  uuid: { problems: expecting((text) => uuid.test(text), "does not match the UUID format"), patternSize: 69 },
  byte: { problems: expecting((text) => base64.test(text), "invalid base64"), patternSize: 84 },
  date: { problems: expecting(isDate, "invalid date"), patternSize: 71 },
  datetime: {
    problems: expecting((text) => parseTimestamp(text) !== undefined, "invalid datetime"),
    patternSize: 71,
  },
};

function validate({ rules }: FormatValue, text: string): Value {
  const problems = rules.problems(text);
  return problems.length === 0 ? Optional.none : new Optional([...problems]);
}

function byName(name: string): Value {
  const rules = Object.hasOwn(formats, name) ? formats[name] : undefined;
  return rules === undefined ? Optional.none : new Optional(new FormatValue(name, rules));
}

const functions: readonly FunctionDeclaration[] = [
  ...Object.entries(formats).map(([name, rules]) => {
    const value = new FormatValue(name, rules);
    return declare(`format.${name}`, [global(`format.${name}`, [], FORMAT, () => value)]);
  }),
  declare("format.named", [global("format-named", [args.string], optionalOf(FORMAT), byName)]),
  declare(
    "validate",
    [member("format-validate", [args.object(FORMAT, FormatValue), args.string], optionalOf(listOf(STRING)), validate)],
    {
      cost: ([format, text = ""]) =>
        format instanceof FormatValue
          ? Math.ceil((1 + sizeOf(text)) * prices.character) *
            Math.ceil(format.rules.patternSize * prices.patternCharacter)
          : undefined,
    },
  ),
];

export const formatLibrary: Library = {
  name: "kubernetes.format",
  functions,
  types: { "kubernetes.NamedFormat": FORMAT },
};
