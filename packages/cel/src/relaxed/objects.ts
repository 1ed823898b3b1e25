import { qualifiedName, type CallExpr, type Expr } from "../ast.ts";
import { formatType } from "../types.ts";
import type { StrictBuilder } from "./builder.ts";
import type { Scope } from "./scope.ts";
import type { SoftPaths } from "./soft-path.ts";

type MapLiteral = Extract<Expr, { kind: "map" }>;
type ListLiteral = Extract<Expr, { kind: "list" }>;

/** Objects, maps and lists as the relaxed dialect writes them. */
export class Objects {
  readonly #builder: StrictBuilder;
  readonly #paths: SoftPaths;

  constructor(builder: StrictBuilder, paths: SoftPaths) {
    this.#builder = builder;
    this.#paths = paths;
  }

  /** `Object` as a value is the object that is being looked at. */
  currentObject(expr: Extract<Expr, { kind: "ident" }>, scope: Scope): Expr {
    const meant = expr.name === "Object" && !scope.isVariable("Object") && scope.isVariable("object");
    return meant ? { ...expr, name: "object" } : expr;
  }

  /** A bare word as key is text, unless it is the name of a variable. */
  mapKey(key: Expr, scope: Scope): Expr | undefined {
    if (key.kind !== "ident" || scope.isVariable(key.name)) return undefined;
    return this.#builder.text(key, key.name);
  }

  /** Kubernetes wants values of one type in a literal; where they differ, their types are forgotten. */
  uniformMap(expr: MapLiteral, scope: Scope): Expr {
    if (isUniform(expr.entries, scope)) return expr;
    return { ...expr, entries: expr.entries.map((entry) => ({ ...entry, value: this.#untyped(entry) })) };
  }

  uniformList(expr: ListLiteral, scope: Scope): Expr {
    if (isUniform(expr.elements, scope)) return expr;
    return { ...expr, elements: expr.elements.map((element) => ({ ...element, value: this.#untyped(element) })) };
  }

  #untyped({ value, optional }: { readonly value: Expr; readonly optional: boolean }): Expr {
    return optional || (value.kind === "call" && value.name === "dyn")
      ? value
      : this.#builder.call(value, "dyn", value);
  }

  /** The value of a field of `Object{…}`, with maps as objects and without the part that is there already. */
  fieldValue(value: Expr, typeName: string, scope: Scope): Expr {
    if (!typeName.startsWith("Object.")) return value;
    if (value.kind === "map") return this.#asStruct(value, typeName, scope) ?? value;
    if (value.kind === "list") {
      const elements = value.elements.map((element) => ({
        ...element,
        value: this.fieldValue(element.value, typeName, scope),
      }));
      return { ...value, elements };
    }
    const addition = this.#additionTo(value, typeName);
    return addition === undefined ? value : this.fieldValue(addition, typeName, scope);
  }

  /** `Object.a.b + x` in the place of `a.b` adds x: applying it leaves what is there. */
  #additionTo(value: Expr, typeName: string): Expr | undefined {
    if (value.kind !== "call" || value.name !== "_+_") return undefined;
    const [left, right] = value.args;
    const path = left === undefined ? undefined : qualifiedName(left)?.replace(/^object\b/, "Object");
    return path === typeName ? right : undefined;
  }

  /** Only maps whose keys can be field names; labels and annotations stay maps. */
  #asStruct(value: MapLiteral, typeName: string, scope: Scope): Expr | undefined {
    const names = value.entries.map(({ key }) => {
      if (key.kind === "ident" && !scope.isVariable(key.name)) return key.name;
      return key.kind === "literal" && typeof key.value === "string" ? key.value : undefined;
    });
    if (isUniform(value.entries, scope) && value.entries.every((entry) => entry.value.kind === "literal")) {
      const quoted = value.entries.every(({ key }) => key.kind === "literal");
      if (quoted) return undefined;
    }
    if (!names.every((name) => name !== undefined && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))) return undefined;
    const fields = value.entries.map((entry, index) => {
      const name = names[index] ?? "";
      const inner = this.fieldValue(entry.value, `${typeName}.${name}`, scope);
      return { name, value: inner, optional: entry.optional, start: entry.key.start, end: entry.value.end };
    });
    return this.#builder.factory.struct(value, typeName, fields);
  }

  /** Lists are joined, and what is missing is an empty one; of two maps the right one wins. */
  sum(expr: CallExpr, left: Expr, right: Expr, scope: Scope): Expr {
    const isMap = (operand: Expr): boolean => operand.kind === "map" || scope.typeOf(operand).kind === "map";
    if (isMap(left) || isMap(right)) {
      const empty = (operand: Expr): Expr => this.#paths.orEmpty(operand, scope, this.#builder.emptyMap(operand));
      return this.#merge(expr, empty(left), empty(right), scope);
    }
    const isList = left.kind === "list" || right.kind === "list";
    if (!isList) return { ...expr, args: [left, right] };
    return this.#builder.call(expr, "_+_", this.#paths.orEmpty(left, scope), this.#paths.orEmpty(right, scope));
  }

  /**
   * There is no operator that joins maps. The entries of both, without those of the left that the right replaces, are made
   * a list of pairs, and that a map.
   */
  #merge(at: Expr, left: Expr, right: Expr, scope: Scope): Expr {
    const { factory } = this.#builder;
    const [key, value, entry, index] = ["k", "v", "e", "i"].map((name) => freshName(name, scope));
    const name = (text = ""): Expr => factory.ident(at, text);
    const pair = (): Expr =>
      factory.list(at, [
        { value: this.#builder.call(at, "dyn", name(key)), optional: false },
        { value: this.#builder.call(at, "dyn", name(value)), optional: false },
      ]);
    const pairs = (range: Expr, filter: Expr | undefined): Expr =>
      factory.comprehension(at, {
        macro: "transformList",
        spelling: "transformList",
        range,
        variable: key ?? "",
        variable2: value,
        filter,
        body: pair(),
      });
    const replaced = this.#builder.call(at, "!_", this.#builder.call(at, "@in", name(key), right));
    const all = this.#builder.call(at, "_+_", pairs(left, replaced), pairs(right, undefined));
    const part = (position: number): Expr =>
      factory.index(at, name(entry), this.#builder.constant(at, position, "int"), false);
    return factory.comprehension(at, {
      macro: "transformMapEntry",
      spelling: "transformMapEntry",
      range: all,
      variable: index ?? "",
      variable2: entry,
      body: factory.map(at, [{ key: part(0), value: part(1), optional: false }]),
    });
  }
}

/** A name for a macro variable that hides nothing. */
function freshName(name: string, scope: Scope): string {
  return scope.isVariable(name) ? freshName(`${name}_`, scope) : name;
}

/** Whether all values are certainly of one type: literals of one kind, or things of which nothing is known. */
function isUniform(items: readonly { readonly value: Expr }[], scope: Scope): boolean {
  if (items.length <= 1) return true;
  const kinds = new Set(items.map(({ value }) => shape(value, scope)));
  return kinds.size === 1 && !kinds.has("unsure");
}

function shape(value: Expr, scope: Scope): string {
  if (value.kind === "literal") return value.type;
  if (value.kind === "struct") return value.typeName;
  if (value.kind === "call" && value.name === "dyn") return "dyn";
  if (value.kind === "select" || value.kind === "index" || value.kind === "ident")
    return formatType(scope.typeOf(value));
  // Two lists or maps may differ inside.
  return "unsure";
}
