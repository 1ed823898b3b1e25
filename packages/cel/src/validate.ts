import { childrenOf, type CallExpr, type Expr } from "./ast.ts";
import type { CheckInfo } from "./check-info.ts";
import { PatternProblem, compilePattern } from "./regex.ts";
import type { Issue } from "./source.ts";
import { parseDuration, parseTimestamp } from "./time.ts";
import { DYN, formatType, runtimeTypeName, sameType, unwrapOptional, type Type } from "./types.ts";

/** Checks beyond types that Kubernetes makes when it compiles: literals that can only fail, lists of mixed types. */
export function validate(root: Expr, info: CheckInfo): Issue[] {
  const issues: Issue[] = [];
  const visit = (expr: Expr, exempt: boolean): void => {
    if (expr.kind === "call") {
      issues.push(...literalArgumentIssues(expr), ...patternIssues(expr), ...formatIssues(expr, info));
    }
    if (!exempt) issues.push(...mixedLiteralIssues(expr, info));
    // The arguments of a format call may be of any types.
    const inner = exempt || (expr.kind === "call" && expr.name === "format");
    for (const child of childrenOf(expr)) visit(child, inner);
  };
  visit(root, false);
  return issues;
}

function issueAt(expr: Expr, message: string): Issue {
  return { range: { start: expr.at, end: Math.max(expr.end, expr.at) }, message };
}

function mixedLiteralIssues(expr: Expr, info: CheckInfo): Issue[] {
  if (expr.kind === "list") {
    return mismatches(expr.elements, info).slice(0, 1);
  }
  if (expr.kind !== "map") return [];
  const keys = expr.entries.map(({ key }) => ({ value: key, optional: false }));
  return [...mismatches(keys, info), ...mismatches(expr.entries, info)];
}

function mismatches(items: readonly { value: Expr; optional: boolean }[], info: CheckInfo): Issue[] {
  const typeOf = ({ value, optional }: { value: Expr; optional: boolean }): Type => {
    const type = info.types.get(value.id) ?? DYN;
    return optional ? unwrapOptional(type) : type;
  };
  const [first, ...rest] = items;
  if (first === undefined) return [];
  const expected = typeOf(first);
  return rest
    .filter((item) => !sameType(typeOf(item), expected))
    .map((item) =>
      issueAt(item.value, `expected type '${formatType(expected)}' but found '${formatType(typeOf(item))}'`),
    );
}

/** Functions whose literal argument can be judged at once, and how. */
const literalTests: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== undefined,
  timestamp: (text) => parseTimestamp(text) !== undefined,
  matches: (text) => !(compilePattern(text) instanceof PatternProblem),
};

function literalArgumentIssues(call: CallExpr): Issue[] {
  const test = Object.hasOwn(literalTests, call.name) ? literalTests[call.name] : undefined;
  const argument = call.args.at(-1);
  if (test === undefined || argument?.kind !== "literal" || typeof argument.value !== "string") return [];
  return test(argument.value) ? [] : [issueAt(argument, `invalid ${call.name} argument`)];
}

/** `find` and `findAll` compile a literal pattern when the program is made. */
function patternIssues(call: CallExpr): Issue[] {
  const [pattern] = call.args;
  const finds = call.target !== undefined && (call.name === "find" || call.name === "findAll");
  if (!finds || pattern?.kind !== "literal" || typeof pattern.value !== "string") return [];
  const compiled = compilePattern(pattern.value);
  if (!(compiled instanceof PatternProblem)) return [];
  return [issueAt(call, `program instantiation failed: ${compiled.message}`)];
}

const accepted: Readonly<Record<string, { readonly types: readonly string[]; readonly complaint: string }>> = {
  s: {
    types:
      "list map int uint double bool string google.protobuf.Timestamp bytes google.protobuf.Duration type null_type".split(
        " ",
      ),
    complaint:
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  },
  d: { types: ["int", "uint"], complaint: "decimal clause can only be used on integers" },
  f: { types: ["double"], complaint: "fixed-point clause can only be used on doubles" },
  e: { types: ["double"], complaint: "scientific clause can only be used on doubles" },
  b: { types: ["int", "uint", "bool"], complaint: "only integers and bools can be formatted as binary" },
  x: {
    types: ["int", "uint", "string", "bytes"],
    complaint: "only integers, byte buffers, and strings can be formatted as hex",
  },
  X: {
    types: ["int", "uint", "string", "bytes"],
    complaint: "only integers, byte buffers, and strings can be formatted as hex",
  },
  o: { types: ["int", "uint"], complaint: "octal clause can only be used on integers" },
};

/** `"%d".format(["x"])`: a literal template with literal arguments. */
function formatIssues(call: CallExpr, info: CheckInfo): Issue[] {
  const [list] = call.args;
  if (call.name !== "format" || call.target?.kind !== "literal" || list?.kind !== "list") return [];
  const template = call.target.value;
  if (typeof template !== "string") return [];
  let next = 0;
  for (const [whole, verb = ""] of template.matchAll(/%(?:%|(?:\.\d+)?(.)?)/gsu)) {
    if (whole === "%%") continue;
    const element = list.elements[next]?.value;
    if (element === undefined) return [issueAt(call, `index ${next} out of range`)];
    const rule = Object.hasOwn(accepted, verb) ? accepted[verb] : undefined;
    if (rule === undefined) {
      return [issueAt(call, `could not parse formatting clause: unrecognized formatting clause "${verb}"`)];
    }
    const type = info.types.get(element.id) ?? DYN;
    if (type.kind !== "dyn" && !rule.types.includes(runtimeTypeName(type))) {
      return [issueAt(element, `error during formatting: ${rule.complaint}, was given ${runtimeTypeName(type)}`)];
    }
    next += 1;
  }
  if (next === list.elements.length) return [];
  const counts = `expected ${next}, got ${list.elements.length}`;
  return [issueAt(call, `too many arguments supplied to string.format (${counts})`)];
}
