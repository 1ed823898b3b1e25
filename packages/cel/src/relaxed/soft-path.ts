import type { Expr } from "../ast.ts";
import { isDyn } from "../types.ts";
import type { StrictBuilder } from "./builder.ts";
import type { Scope } from "./scope.ts";

/**
 * Reading what may be missing. In the relaxed dialect a missing field is null in comparisons, empty where something is gone
 * through, and false where a condition stands; in the strict one each of these has to be spelt out with optionals.
 */
export class SoftPaths {
  readonly #builder: StrictBuilder;

  constructor(builder: StrictBuilder) {
    this.#builder = builder;
  }

  /** `a.b[c]`, with at least one step that may find nothing. */
  isPath(expr: Expr, scope: Scope): expr is Extract<Expr, { kind: "select" | "index" }> {
    if (expr.kind === "select") return !expr.test && !expr.optional && this.#startsInData(expr.operand, scope);
    return expr.kind === "index" && !expr.optional && this.#startsInData(expr.operand, scope);
  }

  #startsInData(expr: Expr, scope: Scope): boolean {
    if (expr.kind === "ident") return scope.isVariable(expr.name);
    return expr.kind === "call" || this.isPath(expr, scope);
  }

  /** `a.b[c]` as `a.?b[?c]`. */
  optional(expr: Expr, scope: Scope): Expr {
    if (!this.isPath(expr, scope)) return expr;
    const operand = this.optional(expr.operand, scope);
    const { factory } = this.#builder;
    return expr.kind === "select"
      ? factory.select(expr, operand, expr.field, { optional: true, test: false })
      : factory.index(expr, operand, expr.index, true);
  }

  /** The value, or null. */
  orNull(expr: Expr, scope: Scope): Expr {
    if (!this.isPath(expr, scope)) return expr;
    const builder = this.#builder;
    const optional = this.optional(expr, scope);
    const nothing = builder.constant(expr, null, "null");
    if (isDyn(scope.typeOf(expr))) return builder.method(optional, "orValue", this.#untyped(expr, nothing));
    // An optional string has no null in it until its type is forgotten.
    const item = builder.factory.ident(expr, "v");
    const untyped = builder.factory.optionalMap(expr, optional, "v", builder.call(expr, "dyn", item), false);
    return builder.method(untyped, "orValue", nothing);
  }

  /** The value, or an empty list or map. */
  orEmpty(expr: Expr, scope: Scope, empty?: Expr): Expr {
    if (!this.isPath(expr, scope)) return expr;
    const isMap = scope.typeOf(expr).kind === "map";
    const otherwise = empty ?? (isMap ? this.#builder.emptyMap(expr) : this.#builder.emptyList(expr));
    const fallback = isDyn(scope.typeOf(expr)) ? this.#untyped(expr, otherwise) : otherwise;
    return this.#builder.method(this.optional(expr, scope), "orValue", fallback);
  }

  /**
   * What an index finds in something of unknown type may itself be anything, also for the checker: it would take the type of
   * the fallback for the type of the whole.
   */
  #untyped(path: Expr, fallback: Expr): Expr {
    return path.kind === "index" ? this.#builder.call(fallback, "dyn", fallback) : fallback;
  }

  orFalse(expr: Expr, scope: Scope): Expr {
    if (!this.isPath(expr, scope)) return expr;
    return this.#builder.method(this.optional(expr, scope), "orValue", this.#builder.constant(expr, false, "bool"));
  }

  /** Whether there is a value; undefined when there always is. */
  isPresent(expr: Expr, scope: Scope): Expr | undefined {
    return this.isPath(expr, scope) ? this.#builder.method(this.optional(expr, scope), "hasValue") : undefined;
  }
}
