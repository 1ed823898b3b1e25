import type { Expr } from "../ast.ts";
import type { Declarations } from "../declarations.ts";
import { DYN, unwrapOptional, type Type } from "../types.ts";

/** Which names mean what at one place of an expression: the declarations and the variables of the macros around it. */
export class Scope {
  readonly declarations: Declarations;
  readonly #locals: ReadonlyMap<string, Type>;

  constructor(declarations: Declarations, locals: ReadonlyMap<string, Type> = new Map()) {
    this.declarations = declarations;
    this.#locals = locals;
  }

  with(locals: readonly (readonly [string, Type])[]): Scope {
    return new Scope(this.declarations, new Map([...this.#locals, ...locals]));
  }

  isVariable(name: string): boolean {
    return this.#locals.has(name) || this.declarations.variables.has(name);
  }

  isLocal(name: string): boolean {
    return this.#locals.has(name);
  }

  /** The type of a path, as far as schemas tell; `dyn` for everything else. */
  typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case "ident":
        return this.#locals.get(expr.name) ?? this.declarations.variables.get(expr.name) ?? DYN;
      case "select":
        return this.#fieldType(unwrapOptional(this.typeOf(expr.operand)), expr.field);
      case "index":
        return elementType(unwrapOptional(this.typeOf(expr.operand)));
      case "literal":
      case "call":
      case "logical":
      case "conditional":
      case "list":
      case "map":
      case "struct":
      case "comprehension":
      case "bind":
      case "block":
      case "optional-map":
        return DYN;
    }
  }

  #fieldType(type: Type, field: string): Type {
    if (type.kind === "map") return type.value;
    if (type.kind !== "struct") return DYN;
    return this.declarations.types.findField(type.name, field)?.type ?? DYN;
  }

  /** What a macro over this range binds its variables to. */
  rangeTypes(range: Expr): { readonly key: Type; readonly value: Type; readonly single: Type } {
    const type = this.typeOf(range);
    if (type.kind === "list") return { key: { kind: "int" }, value: type.element, single: type.element };
    if (type.kind === "map") return { key: type.key, value: type.value, single: type.key };
    return { key: DYN, value: DYN, single: DYN };
  }
}

function elementType(type: Type): Type {
  if (type.kind === "list") return type.element;
  return type.kind === "map" ? type.value : DYN;
}
