import type { Expr } from "../ast.ts";
import type { StrictBuilder } from "./builder.ts";
import type { Scope } from "./scope.ts";

type Measure = "quantity" | "version";

/** Comparisons and sums of quantities and versions, which have functions for it in the strict language. */
export class Measures {
  readonly #builder: StrictBuilder;

  constructor(builder: StrictBuilder) {
    this.#builder = builder;
  }

  /** What an operand is, if it is one of the two. */
  #measureOf(expr: Expr, scope: Scope): Measure | undefined {
    if (expr.kind === "literal" && (expr.type === "quantity" || expr.type === "version")) return expr.type;
    if (expr.kind === "call" && (expr.name === "quantity" || expr.name === "semver")) {
      return expr.name === "quantity" ? "quantity" : "version";
    }
    const isSum = expr.kind === "call" && (expr.name === "add" || expr.name === "sub") && expr.target !== undefined;
    if (isSum && expr.target !== undefined) return this.#measureOf(expr.target, scope);
    const type = scope.typeOf(expr);
    if (type.kind !== "opaque") return undefined;
    return type.name === "kubernetes.Quantity" ? "quantity" : type.name === "kubernetes.Semver" ? "version" : undefined;
  }

  /** What two operands are compared as; undefined for ordinary values. */
  common(left: Expr, right: Expr, scope: Scope): Measure | undefined {
    const measure = this.#measureOf(left, scope) ?? this.#measureOf(right, scope);
    if (measure !== undefined) return measure;
    // `version > 1.5` with a text on the left can only mean versions.
    const isText = (expr: Expr): boolean => scope.typeOf(expr).kind === "string";
    const isNumber = (expr: Expr): boolean =>
      expr.kind === "literal" && (expr.type === "double" || expr.type === "int");
    return (isText(left) && isNumber(right)) || (isNumber(left) && isText(right)) ? "version" : undefined;
  }

  /** The operand as a value of the strict language. */
  convert(expr: Expr, measure: Measure, scope: Scope): Expr {
    const builder = this.#builder;
    if (this.#measureOf(expr, scope) !== undefined) return this.literal(expr);
    const isText = scope.typeOf(expr).kind === "string";
    const text = isText ? expr : builder.call(expr, "string", expr);
    if (measure === "quantity") return builder.call(expr, "quantity", text);
    const written = expr.kind === "literal" && expr.text !== undefined ? expr.text : undefined;
    if (written !== undefined) return builder.call(expr, "semver", builder.text(expr, fullVersion(written)));
    return builder.call(expr, "semver", text, builder.constant(expr, true, "bool"));
  }

  /** `8Gi` as `quantity("8Gi")`; everything else stays. */
  literal(expr: Expr): Expr {
    if (expr.kind !== "literal" || (expr.type !== "quantity" && expr.type !== "version")) return expr;
    const text = this.#builder.text(expr, expr.text ?? "");
    return this.#builder.call(expr, expr.type === "quantity" ? "quantity" : "semver", text);
  }

  compare(at: Expr, operator: string, left: Expr, right: Expr): Expr {
    const builder = this.#builder;
    if (operator === "_>_") return builder.method(left, "isGreaterThan", right);
    if (operator === "_<_") return builder.method(left, "isLessThan", right);
    if (operator === "_==_" || operator === "_!=_") return builder.call(at, operator, left, right);
    const order = builder.method(left, "compareTo", right);
    return builder.call(at, operator, order, builder.constant(at, 0, "int"));
  }

  combine(operator: string, left: Expr, right: Expr): Expr {
    return this.#builder.method(left, operator === "_+_" ? "add" : "sub", right);
  }
}

function fullVersion(text: string): string {
  const parts = text.split(".");
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}
