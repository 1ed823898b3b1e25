import type { Expr, LiteralType, MacroName, StructField } from "./ast.ts";
import { SyntaxFailure } from "./lex.ts";
import type { Range } from "./source.ts";
import type { Value } from "./values.ts";

type Span = Range & { readonly at: number };

/** Makes nodes with unique ids. */
export class NodeFactory {
  #count: number;

  /** Ids begin where another factory stopped, when nodes of both end up in one tree. */
  constructor(first = 0) {
    this.#count = first;
  }

  /** How many ids were given out. */
  get count(): number {
    return this.#count;
  }

  // Each kind is one literal with all its properties in order: objects put together from parts cost ten times as much.

  #id(): number {
    this.#count += 1;
    return this.#count - 1;
  }

  literal({ start, end, at }: Span, value: Value, type: LiteralType, text?: string): Expr {
    return { id: this.#id(), start, end, at, kind: "literal", value, type, text };
  }

  ident({ start, end, at }: Span, name: string): Expr {
    return { id: this.#id(), start, end, at, kind: "ident", name };
  }

  select(
    { start, end, at }: Span,
    operand: Expr,
    field: string,
    { optional, test }: { optional: boolean; test: boolean },
  ): Expr {
    return { id: this.#id(), start, end, at, kind: "select", operand, field, test, optional };
  }

  index({ start, end, at }: Span, operand: Expr, index: Expr, optional: boolean): Expr {
    return { id: this.#id(), start, end, at, kind: "index", operand, index, optional };
  }

  call({ start, end, at }: Span, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    return { id: this.#id(), start, end, at, kind: "call", name, target, args };
  }

  logical({ start, end, at }: Span, operator: "&&" | "||", terms: readonly Expr[]): Expr {
    return { id: this.#id(), start, end, at, kind: "logical", operator, terms };
  }

  conditional({ start, end, at }: Span, test: Expr, consequence: Expr, otherwise: Expr): Expr {
    return { id: this.#id(), start, end, at, kind: "conditional", test, consequence, otherwise };
  }

  list({ start, end, at }: Span, elements: readonly { value: Expr; optional: boolean }[]): Expr {
    return { id: this.#id(), start, end, at, kind: "list", elements };
  }

  map({ start, end, at }: Span, entries: readonly { key: Expr; value: Expr; optional: boolean }[]): Expr {
    return { id: this.#id(), start, end, at, kind: "map", entries };
  }

  struct({ start, end, at }: Span, typeName: string, fields: readonly StructField[]): Expr {
    return { id: this.#id(), start, end, at, kind: "struct", typeName, fields };
  }

  comprehension(
    { start, end, at }: Span,
    { macro, spelling, range, variable, variable2, filter, body }: ComprehensionParts,
  ): Expr {
    const id = this.#id();
    return { id, start, end, at, kind: "comprehension", macro, spelling, range, variable, variable2, filter, body };
  }

  bind({ start, end, at }: Span, name: string, value: Expr, body: Expr): Expr {
    return { id: this.#id(), start, end, at, kind: "bind", name, value, body };
  }

  block({ start, end, at }: Span, slots: readonly Expr[], body: Expr): Expr {
    return { id: this.#id(), start, end, at, kind: "block", slots, body };
  }

  optionalMap({ start, end, at }: Span, target: Expr, variable: string, body: Expr, flat: boolean): Expr {
    return { id: this.#id(), start, end, at, kind: "optional-map", target, variable, body, flat };
  }
}

interface ComprehensionParts {
  readonly macro: MacroName;
  readonly spelling: string;
  readonly range: Expr;
  readonly variable: string;
  readonly variable2?: string | undefined;
  readonly filter?: Expr | undefined;
  readonly body: Expr;
}

interface MacroCall {
  readonly span: Span;
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** Returns the node that the call stands for, or undefined when it is an ordinary call after all. */
type Expander = (factory: NodeFactory, call: MacroCall) => Expr | undefined;

/** Macros by name, whether they have a target, and number of arguments: see `macroKey`. */
export type MacroTable = ReadonlyMap<string, Expander>;

function macroKey(name: string, hasTarget: boolean, count: number | "*"): string {
  return `${hasTarget ? "." : ""}${name}/${count}`;
}

export function expandMacro(table: MacroTable, factory: NodeFactory, call: MacroCall): Expr | undefined {
  const hasTarget = call.target !== undefined;
  const expander =
    table.get(macroKey(call.name, hasTarget, call.args.length)) ?? table.get(macroKey(call.name, hasTarget, "*"));
  return expander?.(factory, call);
}

function variableName(expr: Expr | undefined, macro: string): string {
  if (expr?.kind === "ident" && !expr.name.startsWith(".")) return expr.name;
  const range = expr ?? { start: 0, end: 0 };
  const builds = macro === "map" || macro === "filter";
  const message = builds ? "argument is not an identifier" : "argument must be a simple name";
  throw new SyntaxFailure(message, range.start, range.end);
}

/** `range.macro(variable, [variable2,] [filter,] body)` */
function comprehension(macro: MacroName, shape: { variables: 1 | 2; filter: boolean }): Expander {
  return (factory, { span, name, target, args }) => {
    const body = args.at(-1);
    if (target === undefined || body === undefined) return undefined;
    const variable = variableName(args[0], name);
    const variable2 = shape.variables === 2 ? variableName(args[1], name) : undefined;
    if (variable2 === variable) {
      throw new SyntaxFailure(`duplicate variable name: ${variable} (in ${name}())`, span.start, span.end);
    }
    // `range.filter(x, p)` keeps what fits, so its body is the predicate; `map` and the transforms have it before the body.
    const filter = shape.filter ? args[shape.variables] : undefined;
    return factory.comprehension(span, { macro, spelling: name, range: target, variable, variable2, filter, body });
  };
}

const has: Expander = (factory, { span, args: [argument] }) => {
  if (argument?.kind !== "select" || argument.test || argument.optional) {
    const range = argument ?? span;
    throw new SyntaxFailure("invalid argument to has() macro", range.start, range.end);
  }
  return factory.select(span, argument.operand, argument.field, { optional: false, test: true });
};

const optionalMap =
  (flat: boolean): Expander =>
  (factory, { span, name, target, args: [variable, body] }) =>
    target === undefined || body === undefined
      ? undefined
      : factory.optionalMap(span, target, variableName(variable, name), body, flat);

/** The macros under `cel.`: their target must be that very name. */
const inCelNamespace =
  (expander: Expander): Expander =>
  (factory, call) =>
    call.target?.kind === "ident" && call.target.name === "cel" ? expander(factory, call) : undefined;

const bind: Expander = (factory, { span, args: [variable, value, body] }) =>
  value === undefined || body === undefined
    ? undefined
    : factory.bind(span, variableName(variable, "cel.bind"), value, body);

const block: Expander = (factory, { span, args: [slots, body] }) => {
  if (slots?.kind !== "list" || body === undefined) {
    throw new SyntaxFailure("cel.block requires the first arg to be a list literal", span.start, span.end);
  }
  const values = slots.elements.map((element) => element.value);
  return factory.block(span, values, body);
};

/** `cel.index(1)` and `cel.iterVar(0, 1)`: names that no user can write. */
const hiddenName =
  (prefix: string): Expander =>
  (factory, { span, args }) => {
    const numbers = args.map((argument) => {
      if (argument.kind === "literal" && typeof argument.value === "number" && argument.value >= 0)
        return argument.value;
      throw new SyntaxFailure(`cel.${prefix} requires non-negative int constants`, span.start, span.end);
    });
    return factory.ident(span, `@${prefix}${numbers.join(":")}`);
  };

/** `math.greatest(a, b, c)` becomes a call with one, two or a list of arguments. */
const extreme =
  (name: "math.@max" | "math.@min"): Expander =>
  (factory, { span, name: spelling, target, args }) => {
    if (target?.kind !== "ident" || target.name !== "math") return undefined;
    if (args.length === 0) {
      throw new SyntaxFailure(`math.${spelling}() requires at least one argument`, span.at, span.end);
    }
    for (const argument of args) {
      const literal = argument.kind === "literal" && !["int", "uint", "double"].includes(argument.type);
      const structure = argument.kind === "map" || argument.kind === "struct" || argument.kind === "logical";
      if (literal || structure || (argument.kind === "list" && (args.length > 1 || argument.elements.length === 0))) {
        throw new SyntaxFailure(`math.${spelling}() invalid single argument value`, argument.start, argument.end);
      }
    }
    if (args.length <= 2) return factory.call(span, name, undefined, args);
    const list = factory.list(
      span,
      args.map((value) => ({ value, optional: false })),
    );
    return factory.call(span, name, undefined, [list]);
  };

/** `list.sortBy(e, key)` */
const sortBy: Expander = (factory, { span, name, target, args: [variable, key] }) => {
  if (target === undefined || key === undefined) return undefined;
  const input = (): Expr => factory.ident(span, "@__sortBy_input__");
  const keys = factory.comprehension(span, {
    macro: "map",
    spelling: "map",
    range: input(),
    variable: variableName(variable, name),
    body: key,
  });
  const call = factory.call(span, "@sortByAssociatedKeys", input(), [keys]);
  return factory.bind(span, "@__sortBy_input__", target, call);
};

const member = (name: string, count: number | "*", expander: Expander): [string, Expander] => [
  macroKey(name, true, count),
  expander,
];

const standard: [string, Expander][] = [
  [macroKey("has", false, 1), has],
  member("all", 2, comprehension("all", { variables: 1, filter: false })),
  member("exists", 2, comprehension("exists", { variables: 1, filter: false })),
  member("exists_one", 2, comprehension("exists_one", { variables: 1, filter: false })),
  member("existsOne", 2, comprehension("exists_one", { variables: 1, filter: false })),
  member("map", 2, comprehension("map", { variables: 1, filter: false })),
  member("map", 3, comprehension("map", { variables: 1, filter: true })),
  member("filter", 2, comprehension("filter", { variables: 1, filter: false })),
];

const twoVariables: [string, Expander][] = [
  member("all", 3, comprehension("all", { variables: 2, filter: false })),
  member("exists", 3, comprehension("exists", { variables: 2, filter: false })),
  member("existsOne", 3, comprehension("exists_one", { variables: 2, filter: false })),
  member("exists_one", 3, comprehension("exists_one", { variables: 2, filter: false })),
  member("transformList", 3, comprehension("transformList", { variables: 2, filter: false })),
  member("transformList", 4, comprehension("transformList", { variables: 2, filter: true })),
  member("transformMap", 3, comprehension("transformMap", { variables: 2, filter: false })),
  member("transformMap", 4, comprehension("transformMap", { variables: 2, filter: true })),
  member("transformMapEntry", 3, comprehension("transformMapEntry", { variables: 2, filter: false })),
  member("transformMapEntry", 4, comprehension("transformMapEntry", { variables: 2, filter: true })),
];

const bindings: [string, Expander][] = [member("bind", 3, inCelNamespace(bind))];

const blocks: [string, Expander][] = [
  member("block", 2, inCelNamespace(block)),
  member("index", 1, inCelNamespace(hiddenName("index"))),
  member("iterVar", 2, inCelNamespace(hiddenName("it"))),
  member("accuVar", 2, inCelNamespace(hiddenName("ac"))),
];

const optionals: [string, Expander][] = [
  member("optMap", 2, optionalMap(false)),
  member("optFlatMap", 2, optionalMap(true)),
];

const math: [string, Expander][] = [
  member("greatest", "*", extreme("math.@max")),
  member("least", "*", extreme("math.@min")),
];

const sorting: [string, Expander][] = [member("sortBy", 2, sortBy)];

/** Groups of macros that an environment may have. */
export const macroGroups = { standard, twoVariables, bindings, blocks, optionals, math, sorting } as const;

export function macroTable(groups: readonly (readonly [string, Expander][])[]): MacroTable {
  return new Map(groups.flat());
}
