import type { Expr } from "../ast.ts";
import type { NodeFactory } from "../macros.ts";
import type { Value } from "../values.ts";

/** Makes nodes of the strict language in the place of relaxed ones, so that messages still point into the source. */
export class StrictBuilder {
  readonly #factory: NodeFactory;

  constructor(factory: NodeFactory) {
    this.#factory = factory;
  }

  get factory(): NodeFactory {
    return this.#factory;
  }

  text(at: Expr, value: string): Expr {
    return this.#factory.literal(at, value, "string");
  }

  constant(at: Expr, value: Value, type: "null" | "bool" | "int"): Expr {
    return this.#factory.literal(at, value, type);
  }

  call(at: Expr, name: string, ...args: readonly Expr[]): Expr {
    return this.#factory.call(at, name, undefined, args);
  }

  method(target: Expr, name: string, ...args: readonly Expr[]): Expr {
    return this.#factory.call(target, name, target, args);
  }

  emptyList(at: Expr): Expr {
    return this.#factory.list(at, []);
  }

  emptyMap(at: Expr): Expr {
    return this.#factory.map(at, []);
  }

  both(at: Expr, first: Expr, second: Expr): Expr {
    return this.#factory.logical(at, "&&", [first, second]);
  }
}
