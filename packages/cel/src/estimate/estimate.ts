import { qualifiedName, type ComprehensionExpr, type Expr } from "../ast.ts";
import type { CheckInfo } from "../check-info.ts";
import { prices, sizeOf as sizeOfValue } from "../cost-rules.ts";
import { DYN, isOptional, unwrapOptional, type Type } from "../types.ts";
import { exactly, nothing, plus, times, unbounded, union, type Bounds } from "./bounds.ts";
import { estimateCall, type Operand } from "./call-estimates.ts";

/**
 * How large the value at a path can be. A path begins with a variable; `@items`, `@values` and `@keys` stand for what is
 * in lists and maps.
 */
export type SizeAt = (path: readonly string[]) => Bounds | undefined;

/** The least and most that an expression can cost, as Kubernetes estimates it when a rule is stored. */
export function estimateCost(expr: Expr, info: CheckInfo, sizeAt: SizeAt = () => undefined): Bounds {
  return new Estimator(info, sizeAt).cost(expr);
}

interface Local {
  readonly path: readonly string[] | undefined;
  readonly size: Bounds | undefined;
  readonly entry: Entry | undefined;
}

/** Sizes of the keys and values of a list or map that an expression makes. */
interface Entry {
  readonly key: Bounds;
  readonly value: Bounds;
}

class Estimator {
  readonly #info: CheckInfo;
  readonly #sizeAt: SizeAt;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Bounds>();
  readonly #entries = new Map<number, Entry>();
  readonly #locals: { readonly name: string; readonly local: Local }[] = [];

  constructor(info: CheckInfo, sizeAt: SizeAt) {
    this.#info = info;
    this.#sizeAt = sizeAt;
  }

  #type(expr: Expr): Type {
    return this.#info.types.get(expr.id) ?? DYN;
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast((candidate) => candidate.name === name)?.local;
  }

  #with<T>(name: string, local: Local, body: () => T): T {
    this.#locals.push({ name, local });
    const result = body();
    this.#locals.pop();
    return result;
  }

  #path(expr: Expr): readonly string[] | undefined {
    return this.#paths.get(expr.id);
  }

  #size(expr: Expr): Bounds | undefined {
    const known = this.#sizes.get(expr.id);
    if (known !== undefined) return known;
    if (expr.kind === "literal") return exactly(sizeOfValue(expr.value));
    if (expr.kind === "list") return exactly(expr.elements.length);
    if (expr.kind === "map") return exactly(expr.entries.length);
    const path = this.#path(expr);
    const declared = path === undefined ? undefined : this.#sizeAt(path);
    if (declared !== undefined) return declared;
    if (isScalar(this.#type(expr))) return exactly(1);
    return expr.kind === "ident" ? this.#local(expr.name)?.size : undefined;
  }

  #entry(expr: Expr): Entry | undefined {
    const known = this.#entries.get(expr.id);
    if (known !== undefined) return known;
    return expr.kind === "ident" ? this.#local(expr.name)?.entry : undefined;
  }

  cost(expr: Expr): Bounds {
    switch (expr.kind) {
      case "literal":
        return nothing;
      case "ident":
        this.#paths.set(
          expr.id,
          this.#local(expr.name)?.path ?? (this.#local(expr.name) === undefined ? [expr.name] : []),
        );
        return exactly(prices.selectOrIdent);
      case "select":
        return this.#select(expr);
      case "index":
        return this.#index(expr);
      case "call":
        return this.#call(expr);
      case "logical": {
        const [first = nothing, ...rest] = expr.terms.map((term) => this.cost(term));
        return { min: first.min, max: plus(first, ...rest).max };
      }
      case "conditional": {
        const [test, consequence, otherwise] = [expr.test, expr.consequence, expr.otherwise].map((part) =>
          this.cost(part),
        );
        this.#sizes.set(
          expr.id,
          union(this.#size(expr.consequence) ?? unbounded, this.#size(expr.otherwise) ?? unbounded),
        );
        this.#unionEntries(expr, expr.consequence, expr.otherwise);
        return plus(test ?? nothing, union(consequence ?? nothing, otherwise ?? nothing));
      }
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return plus(...expr.fields.map((field) => this.cost(field.value)), exactly(prices.struct));
      case "comprehension":
        return this.#comprehension(expr);
      case "bind":
        return this.#bind(expr, expr.name, expr.value, expr.body);
      case "block": {
        const slots = plus(...expr.slots.map((slot) => this.cost(slot)));
        return plus(slots, this.cost(expr.body));
      }
      case "optional-map": {
        // `target.hasValue() ? optional.of(bind(variable, target.value(), body)) : optional.none()`
        const target = this.cost(expr.target);
        const local = { path: this.#path(expr.target), size: this.#size(expr.target), entry: undefined };
        const body = this.#with(expr.variable, local, () => this.cost(expr.body));
        const found = plus(exactly(prices.list + 1), target, body, exactly(expr.flat ? 0 : 1));
        return plus(target, exactly(1), union(found, exactly(1)));
      }
    }
  }

  #select(expr: Extract<Expr, { kind: "select" }>): Bounds {
    const operand = this.cost(expr.operand);
    if (expr.test) return operand;
    const path = this.#path(expr.operand);
    if (path !== undefined) this.#paths.set(expr.id, [...path, expr.field]);
    if (expr.optional) return plus(operand, exactly(1));
    const { kind } = this.#type(expr.operand);
    return kind === "map" || kind === "struct" ? plus(operand, exactly(prices.selectOrIdent)) : operand;
  }

  #index(expr: Extract<Expr, { kind: "index" }>): Bounds {
    const cost = plus(this.cost(expr.operand), this.cost(expr.index), exactly(1));
    const type = unwrapOptional(this.#type(expr.operand));
    const entry = this.#entry(expr.operand)?.value;
    if (entry !== undefined) this.#sizes.set(expr.id, entry);
    const path = this.#path(expr.operand);
    if (path !== undefined && (type.kind === "list" || type.kind === "map")) {
      this.#paths.set(expr.id, [...path, type.kind === "list" ? "@items" : "@values"]);
    }
    return cost;
  }

  #operand(expr: Expr): Operand {
    const path = this.#path(expr);
    const elements = path === undefined ? undefined : this.#sizeAt([...path, "@items"]);
    const literalInt = expr.kind === "literal" && typeof expr.value === "number" ? expr.value : undefined;
    return { size: this.#size(expr), type: this.#type(expr), elementSize: elements, literalInt };
  }

  #call(expr: Extract<Expr, { kind: "call" }>): Bounds {
    const overloads = this.#info.overloads.get(expr.id) ?? [];
    // A namespaced function was written like a method, but what precedes it is only its name.
    const isMethod = expr.target !== undefined && this.#info.types.has(expr.target.id);
    const parts = isMethod && expr.target !== undefined ? [expr.target, ...expr.args] : expr.args;
    const costs = parts.map((part) => this.cost(part));
    const [first] = expr.args;
    if (expr.name === "dyn" && first !== undefined) {
      this.#copy(expr, first);
      return plus(...costs, exactly(1));
    }
    const operands = parts.map((part) => this.#operand(part));
    const prefix = isMethod || expr.target === undefined ? undefined : qualifiedName(expr.target);
    const name = prefix === undefined ? expr.name : `${prefix}.${expr.name}`;
    const estimates = overloads.map((id) => estimateCall(name, id, operands));
    const [some] = estimates;
    if (some === undefined) return plus(...costs);
    const sizes = estimates.flatMap(({ size }) => size ?? []);
    if (sizes.length > 0) this.#sizes.set(expr.id, sizes.reduce(union));
    const [left, right] = parts;
    if (overloads.includes("add_list") && left !== undefined && right !== undefined)
      this.#unionEntries(expr, left, right);
    return plus(...costs, estimates.map(({ cost }) => cost).reduce(union));
  }

  #copy(to: Expr, from: Expr): void {
    const [size, entry] = [this.#size(from), this.#entry(from)];
    if (size !== undefined) this.#sizes.set(to.id, size);
    if (entry !== undefined) this.#entries.set(to.id, entry);
  }

  #unionEntries(to: Expr, a: Expr, b: Expr): void {
    const [left, right] = [this.#entry(a), this.#entry(b)];
    if (left === undefined || right === undefined) return;
    this.#entries.set(to.id, { key: union(left.key, right.key), value: union(left.value, right.value) });
  }

  #list(expr: Extract<Expr, { kind: "list" }>): Bounds {
    const costs = expr.elements.map(({ value }) => this.cost(value));
    const sizes = expr.elements.map(({ value }) => this.#size(value) ?? unbounded);
    this.#entries.set(expr.id, { key: exactly(1), value: sizes.length === 0 ? nothing : sizes.reduce(union) });
    return plus(...costs, exactly(prices.list));
  }

  #map(expr: Extract<Expr, { kind: "map" }>): Bounds {
    const costs = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]);
    const all = (parts: readonly Expr[]): Bounds =>
      parts.length === 0 ? nothing : parts.map((part) => this.#size(part) ?? unbounded).reduce(union);
    this.#entries.set(expr.id, {
      key: all(expr.entries.map(({ key }) => key)),
      value: all(expr.entries.map(({ value }) => value)),
    });
    return plus(...costs, exactly(prices.map));
  }

  #bind(expr: Expr, name: string, value: Expr, body: Expr): Bounds {
    const valueCost = this.cost(value);
    const local = { path: this.#path(value), size: this.#size(value), entry: this.#entry(value) };
    return this.#with(name, local, () => {
      const bodyCost = this.cost(body);
      this.#copy(expr, body);
      // The fold behind it goes over an empty list, which is paid for.
      return plus(exactly(prices.list), valueCost, bodyCost);
    });
  }

  /** The variable that stands for the elements of a list, the keys or the values of a map. */
  #variable(range: Expr, part: "key" | "value" | "single"): Local {
    const entry = this.#entry(range);
    const isList = this.#type(range).kind === "list" || (entry !== undefined && this.#type(range).kind !== "map");
    const asValue = part === "value" || (part === "single" && isList);
    const step = asValue ? (isList ? "@items" : "@values") : isList ? "@indices" : "@keys";
    const path = this.#path(range);
    return {
      path: path === undefined ? undefined : [...path, step],
      size: asValue ? entry?.value : entry?.key,
      entry: undefined,
    };
  }

  #comprehension(expr: ComprehensionExpr): Bounds {
    const rangeCost = this.cost(expr.range);
    const rounds = this.#size(expr.range) ?? unbounded;
    const inside = <T>(body: () => T): T =>
      expr.variable2 === undefined
        ? this.#with(expr.variable, this.#variable(expr.range, "single"), body)
        : this.#with(expr.variable, this.#variable(expr.range, "key"), () =>
            this.#with(expr.variable2 ?? "", this.#variable(expr.range, "value"), body),
          );
    const { filter, body, bodySize } = inside(() => ({
      filter: expr.filter === undefined ? undefined : this.cost(expr.filter),
      body: this.cost(expr.body),
      bodySize: expr.macro === "filter" ? this.#variable(expr.range, "single").size : this.#size(expr.body),
    }));
    const { init, round, result } = foldCosts(expr.macro, body);
    const step = filter === undefined ? round : plus(filter, union(round, exactly(1)));
    const builds = !["all", "exists", "exists_one"].includes(expr.macro);
    this.#sizes.set(expr.id, builds ? rounds : exactly(1));
    if (builds) this.#entries.set(expr.id, { key: exactly(1), value: union(nothing, bodySize ?? unbounded) });
    return plus(rangeCost, exactly(init + result), times(rounds, step));
  }
}

/** What the fold behind a macro costs: its start, each round, and its result. */
function foldCosts(
  macro: ComprehensionExpr["macro"],
  body: Bounds,
): { readonly init: number; readonly round: Bounds; readonly result: number } {
  const logical = (condition: number): Bounds => ({ min: condition + 1, max: condition + 1 + body.max });
  const append = 1 + prices.list + 1;
  switch (macro) {
    case "all":
      return { init: 0, round: logical(2), result: 1 };
    case "exists":
      return { init: 0, round: logical(3), result: 1 };
    case "exists_one":
      return { init: 0, round: plus(body, { min: 1, max: 2 }), result: 2 };
    case "filter":
      return { init: prices.list, round: plus(body, { min: 1, max: append + 1 }), result: 1 };
    case "map":
    case "transformList":
      return { init: prices.list, round: plus(body, exactly(append)), result: 1 };
    case "transformMap":
      return { init: prices.map, round: plus(body, exactly(3)), result: 1 };
    case "transformMapEntry":
      return { init: prices.map, round: plus(body, exactly(2)), result: 1 };
  }
}

/** Types whose values all have the same size. */
const scalars: ReadonlySet<Type["kind"]> = new Set(["bool", "double", "duration", "int", "timestamp", "uint"]);

function isScalar(type: Type): boolean {
  return scalars.has(type.kind) || (isOptional(type) && isScalar(unwrapOptional(type)));
}
