import { isJsonObject } from "../json.ts";

type Step = (values: readonly unknown[]) => unknown[];

/** `.spec.a.b` as a list of names, for places where only that form is allowed. */
export function simplePath(path: string): string[] {
  return path
    .replace(/^\./, "")
    .split(".")
    .filter((part) => part !== "");
}

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isJsonObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));

const index =
  (position: number): Step =>
  (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const item: unknown = value.at(position);
      return item === undefined ? [] : [item];
    });

const all: Step = (values) =>
  values.flatMap((value): unknown[] =>
    Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [],
  );

const filter =
  (path: string, operator: string, wanted: unknown): Step =>
  (values) =>
    all(values).filter((item) => {
      const found: unknown = compileJsonPath(path)(item)[0];
      if (operator === "==") return found === wanted;
      return operator === "!=" ? found !== wanted : found !== undefined;
    });

const token =
  /\.([A-Za-z0-9_-]+)|\.\*|\[\*\]|\[(-?\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[\?\(@(\.[^=!<>)]+?)\s*(?:(==|!=)\s*("[^"]*"|'[^']*'|[^)]+?))?\s*\)\]/y;

/**
 * The JSONPath of printer columns: fields, indexes, wildcards and filters by one comparison
 * (`.status.conditions[?(@.type=="Ready")].status`). What it cannot read selects nothing.
 */
export function compileJsonPath(path: string): (value: unknown) => unknown[] {
  const steps: Step[] = [];
  const source = path.startsWith(".") || path.startsWith("[") ? path : `.${path}`;
  // A backslash before a dot keeps it inside a name; hide it from the tokenizer and put it back.
  const hidden = source.replace(/\\\./g, "\ue000");
  token.lastIndex = 0;
  while (token.lastIndex < hidden.length) {
    const at = token.lastIndex;
    const match = tokenAt(hidden, at);
    if (match === undefined) return () => [];
    steps.push(match.step);
    token.lastIndex = match.end;
  }
  return (value) => steps.reduce<readonly unknown[]>((values, step) => step(values), [value]).slice();
}

function tokenAt(text: string, at: number): { step: Step; end: number } | undefined {
  const escapedField = /^\.([A-Za-z0-9_\-/\ue000]+)/.exec(text.slice(at));
  if (escapedField !== null) {
    return { step: field((escapedField[1] ?? "").replaceAll("\ue000", ".")), end: at + escapedField[0].length };
  }
  token.lastIndex = at;
  const match = token.exec(text);
  if (match === null) return undefined;
  const [whole, , position, single, double, filterPath, operator, literal] = match;
  const end = at + whole.length;
  if (whole === ".*" || whole === "[*]") return { step: all, end };
  if (position !== undefined) return { step: index(Number(position)), end };
  const name = single ?? double;
  if (name !== undefined) return { step: field(name.replace(/\\(.)/g, "$1").replaceAll("\ue000", ".")), end };
  return { step: filter(filterPath ?? "", operator ?? "", literalOf(literal)), end };
}

function literalOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  if (/^["']/.test(text)) return text.slice(1, -1);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
