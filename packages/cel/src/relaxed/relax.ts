import { qualifiedName, type CallExpr, type Expr } from "../ast.ts";
import type { Declarations } from "../declarations.ts";
import type { NodeFactory } from "../macros.ts";
import { StrictBuilder } from "./builder.ts";
import { Measures } from "./measures.ts";
import { Objects } from "./objects.ts";
import { Scope } from "./scope.ts";
import { SoftPaths } from "./soft-path.ts";

/**
 * Rewrites an expression of the relaxed dialect to the strict language. What runs is the result, so that the strict text of
 * an expression and the expression itself cannot differ in meaning.
 */
export function relax(expr: Expr, declarations: Declarations, factory: NodeFactory): Expr {
  const builder = new StrictBuilder(factory);
  const relaxer = new Relaxer(builder);
  const scope = new Scope(declarations);
  const rewritten = relaxer.rewrite(expr, scope);
  return isCondition(expr) ? relaxer.condition(rewritten, scope) : rewritten;
}

/** A condition at the very top that consists of logic has already been softened; a path alone is left as it is. */
function isCondition(expr: Expr): boolean {
  return expr.kind === "logical" || (expr.kind === "call" && expr.name === "!_");
}

const orderings: ReadonlySet<string> = new Set(["_<_", "_<=_", "_>_", "_>=_"]);
const equalities: ReadonlySet<string> = new Set(["_==_", "_!=_"]);

class Relaxer {
  readonly #builder: StrictBuilder;
  readonly #paths: SoftPaths;
  readonly #measures: Measures;
  readonly #objects: Objects;

  constructor(builder: StrictBuilder) {
    this.#builder = builder;
    this.#paths = new SoftPaths(builder);
    this.#measures = new Measures(builder);
    this.#objects = new Objects(builder, this.#paths);
  }

  condition(expr: Expr, scope: Scope): Expr {
    return this.#paths.orFalse(expr, scope);
  }

  rewrite(expr: Expr, scope: Scope): Expr {
    switch (expr.kind) {
      case "literal":
        return this.#measures.literal(expr);
      case "ident":
        return this.#objects.currentObject(expr, scope);
      case "select":
        return { ...expr, operand: this.rewrite(expr.operand, scope) };
      case "index":
        return { ...expr, operand: this.rewrite(expr.operand, scope), index: this.rewrite(expr.index, scope) };
      case "call":
        return this.#call(expr, scope);
      case "logical":
        return { ...expr, terms: expr.terms.map((term) => this.condition(this.rewrite(term, scope), scope)) };
      case "conditional":
        return {
          ...expr,
          test: this.condition(this.rewrite(expr.test, scope), scope),
          consequence: this.rewrite(expr.consequence, scope),
          otherwise: this.rewrite(expr.otherwise, scope),
        };
      case "list": {
        const elements = expr.elements.map((element) => ({ ...element, value: this.rewrite(element.value, scope) }));
        return this.#objects.uniformList({ ...expr, elements }, scope);
      }
      case "map":
        return this.#map(expr, scope);
      case "struct":
        return this.#struct(expr, scope);
      case "comprehension":
        return this.#comprehension(expr, scope);
      case "bind": {
        const inner = scope.with([[expr.name, scope.typeOf(expr.value)]]);
        return { ...expr, value: this.rewrite(expr.value, scope), body: this.rewrite(expr.body, inner) };
      }
      case "block":
        return expr;
      case "optional-map": {
        const inner = scope.with([[expr.variable, { kind: "dyn" }]]);
        return { ...expr, target: this.rewrite(expr.target, scope), body: this.rewrite(expr.body, inner) };
      }
    }
  }

  #map(expr: Extract<Expr, { kind: "map" }>, scope: Scope): Expr {
    const entries = expr.entries.map((entry) => ({
      ...entry,
      key: this.#objects.mapKey(entry.key, scope) ?? this.rewrite(entry.key, scope),
      value: this.rewrite(entry.value, scope),
    }));
    return this.#objects.uniformMap({ ...expr, entries }, scope);
  }

  #struct(expr: Extract<Expr, { kind: "struct" }>, scope: Scope): Expr {
    const fields = expr.fields.map((field) => {
      // Inside a configuration, what is written as a map is an object, and what is added to itself is only the addition.
      const shaped = this.#objects.fieldValue(field.value, `${expr.typeName}.${field.name}`, scope);
      return { ...field, value: this.rewrite(shaped, scope) };
    });
    return { ...expr, fields };
  }

  #comprehension(expr: Extract<Expr, { kind: "comprehension" }>, scope: Scope): Expr {
    const range = this.rewrite(expr.range, scope);
    const types = scope.rangeTypes(range);
    const inner = scope.with(
      expr.variable2 === undefined
        ? [[expr.variable, types.single]]
        : [
            [expr.variable, types.key],
            [expr.variable2, types.value],
          ],
    );
    const isTest = ["all", "exists", "exists_one", "filter"].includes(expr.macro);
    const body = this.rewrite(expr.body, inner);
    return {
      ...expr,
      range: this.#paths.orEmpty(range, scope),
      body: isTest ? this.condition(body, inner) : body,
      filter: expr.filter === undefined ? undefined : this.condition(this.rewrite(expr.filter, inner), inner),
    };
  }

  #call(expr: CallExpr, scope: Scope): Expr {
    const args = expr.args.map((arg) => this.rewrite(arg, scope));
    const [left, right] = args;
    if (left !== undefined && right !== undefined && expr.target === undefined) {
      if (orderings.has(expr.name) || equalities.has(expr.name))
        return this.#comparison(expr, expr.name, left, right, scope);
      if (expr.name === "_+_" || expr.name === "_-_") return this.#sum(expr, left, right, scope);
      if (expr.name === "@in") return this.#builder.call(expr, "@in", left, this.#paths.orEmpty(right, scope));
    }
    if (expr.name === "!_" && left !== undefined) return this.#builder.call(expr, "!_", this.condition(left, scope));
    if (expr.target === undefined) return { ...expr, args };
    // The target of a namespaced function is part of its name.
    const isName = qualifiedName(expr.target) !== undefined && !this.#paths.isPath(expr.target, scope);
    return { ...expr, args, target: isName ? expr.target : this.rewrite(expr.target, scope) };
  }

  #comparison(at: Expr, operator: string, left: Expr, right: Expr, scope: Scope): Expr {
    const measure = this.#measures.common(left, right, scope);
    if (measure === undefined && equalities.has(operator)) {
      return this.#builder.call(at, operator, this.#paths.orNull(left, scope), this.#paths.orNull(right, scope));
    }
    const compared =
      measure === undefined
        ? this.#builder.call(at, operator, left, right)
        : this.#measures.compare(
            at,
            operator,
            this.#measures.convert(left, measure, scope),
            this.#measures.convert(right, measure, scope),
          );
    // What is missing is neither more nor less than anything, and equal to no quantity.
    const guards = [left, right].flatMap((operand) => this.#paths.isPresent(operand, scope) ?? []);
    if (operator === "_!=_" && guards.length > 0) {
      const equal = this.#comparison(at, "_==_", left, right, scope);
      return this.#builder.call(at, "!_", equal);
    }
    return guards.reduceRight((inner, guard) => this.#builder.both(at, guard, inner), compared);
  }

  #sum(expr: CallExpr, left: Expr, right: Expr, scope: Scope): Expr {
    const measure = this.#measures.common(left, right, scope);
    if (measure === "quantity") {
      const operands = [left, right].map((operand) => this.#measures.convert(operand, measure, scope));
      return this.#measures.combine(expr.name, operands[0] ?? left, operands[1] ?? right);
    }
    if (expr.name === "_-_") return { ...expr, args: [left, right] };
    return this.#objects.sum(expr, left, right, scope);
  }
}
