import type { Range } from "./source.ts";
import type { Value } from "./values.ts";

/**
 * The parsed expression. Macros are nodes of their own rather than folds, so that the evaluator can run them as loops and
 * the printer can write them back as they were.
 */
export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | IndexExpr
  | CallExpr
  | LogicalExpr
  | ConditionalExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr
  | BindExpr
  | BlockExpr
  | OptionalMapExpr;

interface Node extends Range {
  /** Unique in one expression; the checker's results are kept by it. */
  readonly id: number;
  /** Where messages point: the operator, the opening bracket of a call, the dot of a selection. */
  readonly at: number;
}

interface LiteralExpr extends Node {
  readonly kind: "literal";
  readonly value: Value;
  readonly type: LiteralType;
  /** As written, for literals whose text means more than their value: versions and quantities. */
  readonly text: string | undefined;
}

export type LiteralType = "null" | "bool" | "int" | "uint" | "double" | "string" | "bytes" | "quantity" | "version";

interface IdentExpr extends Node {
  readonly kind: "ident";
  /** With a leading dot when it names something outside the container and the comprehension scopes. */
  readonly name: string;
}

export interface SelectExpr extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)` */
  readonly test: boolean;
  /** `operand.?field` */
  readonly optional: boolean;
}

export interface IndexExpr extends Node {
  readonly kind: "index";
  readonly operand: Expr;
  readonly index: Expr;
  /** `operand[?index]` */
  readonly optional: boolean;
}

/** A function call or an operator, whose function has a name like `_+_`. */
export interface CallExpr extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

interface LogicalExpr extends Node {
  readonly kind: "logical";
  readonly operator: "&&" | "||";
  /** Two or more: `a && b && c` is one node, so that long conditions stay flat. */
  readonly terms: readonly Expr[];
}

interface ConditionalExpr extends Node {
  readonly kind: "conditional";
  readonly test: Expr;
  readonly consequence: Expr;
  readonly otherwise: Expr;
}

export interface ListExpr extends Node {
  readonly kind: "list";
  readonly elements: readonly { readonly value: Expr; readonly optional: boolean }[];
}

export interface MapExpr extends Node {
  readonly kind: "map";
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly optional: boolean }[];
}

export interface StructExpr extends Node {
  readonly kind: "struct";
  readonly typeName: string;
  readonly fields: readonly StructField[];
}

export interface StructField extends Range {
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

export type MacroName =
  | "all"
  | "exists"
  | "exists_one"
  | "map"
  | "filter"
  | "transformList"
  | "transformMap"
  | "transformMapEntry";

export interface ComprehensionExpr extends Node {
  readonly kind: "comprehension";
  readonly macro: MacroName;
  /** As written, where a macro has two spellings: `existsOne`. */
  readonly spelling: string;
  readonly range: Expr;
  readonly variable: string;
  readonly variable2: string | undefined;
  /** Only of the macros that build something: which elements take part. */
  readonly filter: Expr | undefined;
  /** The predicate, or what each element becomes. */
  readonly body: Expr;
}

/** `cel.bind(name, value, body)` */
interface BindExpr extends Node {
  readonly kind: "bind";
  readonly name: string;
  readonly value: Expr;
  readonly body: Expr;
}

/** `cel.block([slot, …], body)`: shared subexpressions, each evaluated at most once. */
interface BlockExpr extends Node {
  readonly kind: "block";
  readonly slots: readonly Expr[];
  readonly body: Expr;
}

/** `target.optMap(variable, body)` and `optFlatMap`. */
interface OptionalMapExpr extends Node {
  readonly kind: "optional-map";
  readonly target: Expr;
  readonly variable: string;
  readonly body: Expr;
  readonly flat: boolean;
}

/** `a.b.c` as a dotted name, when it consists of nothing but names. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.test || expr.optional) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}

export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case "literal":
    case "ident":
      return [];
    case "select":
      return [expr.operand];
    case "index":
      return [expr.operand, expr.index];
    case "call":
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case "logical":
      return expr.terms;
    case "conditional":
      return [expr.test, expr.consequence, expr.otherwise];
    case "list":
      return expr.elements.map((element) => element.value);
    case "map":
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case "struct":
      return expr.fields.map((field) => field.value);
    case "comprehension":
      return expr.filter === undefined ? [expr.range, expr.body] : [expr.range, expr.filter, expr.body];
    case "bind":
      return [expr.value, expr.body];
    case "block":
      return [...expr.slots, expr.body];
    case "optional-map":
      return [expr.target, expr.body];
  }
}
