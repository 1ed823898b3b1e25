import {
  DYN,
  isDyn,
  isDynOrError,
  listOf,
  mapOf,
  opaque,
  sameType,
  typeOf,
  typeParameters,
  type Type,
} from "./types.ts";

/** What type parameters turned out to be, while one expression is checked. */
export class Substitution {
  readonly #bound = new Map<string, Type>();
  /** What was bound before each change, so that an assignment that fails half way can be taken back. */
  readonly #trail: (readonly [string, Type | undefined])[] = [];

  /** Keeps what was bound only when the attempt succeeds. */
  attempt(assignments: () => boolean): boolean {
    const mark = this.#trail.length;
    if (assignments()) return true;
    while (this.#trail.length > mark) {
      const [name, previous] = this.#trail.pop() ?? [""];
      if (previous === undefined) this.#bound.delete(name);
      else this.#bound.set(name, previous);
    }
    return false;
  }

  find(type: Type): Type | undefined {
    return type.kind === "param" ? this.#bound.get(type.name) : undefined;
  }

  bind(name: string, type: Type): void {
    this.#trail.push([name, this.#bound.get(name)]);
    this.#bound.set(name, type);
  }

  /** Replaces the parameters inside a type; the unbound ones by `dyn` when asked to. */
  apply(type: Type, unboundToDyn: boolean): Type {
    const bound = this.find(type);
    if (bound !== undefined) return this.apply(bound, unboundToDyn);
    if (type.kind === "param") return unboundToDyn ? DYN : type;
    if (type.kind === "list") return listOf(this.apply(type.element, unboundToDyn));
    if (type.kind === "map") return mapOf(this.apply(type.key, unboundToDyn), this.apply(type.value, unboundToDyn));
    if (type.kind === "opaque") return opaque(type.name, ...type.params.map((item) => this.apply(item, unboundToDyn)));
    return type.kind === "type" && type.of !== undefined ? typeOf(this.apply(type.of, unboundToDyn)) : type;
  }

  /** Whether a value of type `from` may stand where `to` is expected; binds parameters on the way. */
  assign(from: Type, to: Type): boolean {
    if (to.kind === "param") {
      const outcome = this.#bindOrAgree(from, to);
      if (outcome !== "occurs") return outcome;
    }
    if (from.kind === "param") return this.#bindOrAgree(to, from) === true;
    if (isDynOrError(from) || isDynOrError(to)) return true;
    if (from.kind === "null") return isNullable(to);
    if (to.kind === "null") return isNullable(from);
    if (to.kind === "wrapper") return sameType(from.kind === "wrapper" ? from.of : from, to.of);
    if (from.kind === "wrapper") return sameType(from.of, to);
    if (from.kind === "type") return to.kind === "type";
    if (from.kind === "list" || from.kind === "map" || from.kind === "opaque") {
      if (from.kind !== to.kind || (from.kind === "opaque" && to.kind === "opaque" && from.name !== to.name))
        return false;
      return this.assignAll(typeParameters(from), typeParameters(to));
    }
    return sameType(from, to);
  }

  assignAll(from: readonly Type[], to: readonly Type[]): boolean {
    return from.length === to.length && from.every((type, index) => this.assign(type, to[index] ?? DYN));
  }

  /** Makes the parameter stand for the type, or checks that it already does; "occurs" when it is part of the type itself. */
  #bindOrAgree(type: Type, param: Type & { kind: "param" }): boolean | "occurs" {
    if (sameType(type, param)) return true;
    const bound = this.find(param);
    if (bound === undefined) {
      if (this.#occurs(param, type)) return "occurs";
      this.bind(param.name, type);
      return true;
    }
    if (sameType(type, bound) && type.kind !== "type") return true;
    if (!this.assign(type, bound)) return false;
    const general = mostGeneral(type, bound);
    if (!this.#occurs(param, general)) this.bind(param.name, general);
    return true;
  }

  #occurs(param: Type, within: Type): boolean {
    if (within.kind === "param") {
      if (sameType(param, within)) return true;
      const bound = this.find(within);
      return bound !== undefined && this.#occurs(param, bound);
    }
    return typeParameters(within).some((type) => this.#occurs(param, type));
  }
}

/** What null may be assigned to. */
const nullable: ReadonlySet<Type["kind"]> = new Set(["null", "wrapper", "struct", "opaque", "timestamp", "duration"]);

function isNullable(type: Type): boolean {
  return nullable.has(type.kind);
}

/** The one of two types that unify which accepts more. */
export function mostGeneral(a: Type, b: Type): Type {
  if (a.kind === "null" && !isDyn(b) && b.kind !== "param") return b;
  if (b.kind === "null" && !isDyn(a) && a.kind !== "param") return a;
  return isEqualOrLessSpecific(a, b) ? a : b;
}

function isEqualOrLessSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === "param") return true;
  if (isDyn(b) || b.kind === "param") return false;
  if (a.kind !== b.kind) return false;
  if (a.kind === "opaque" && b.kind === "opaque" && (a.name !== b.name || a.params.length !== b.params.length)) {
    return false;
  }
  if (a.kind === "list" || a.kind === "map" || a.kind === "opaque") {
    const others = typeParameters(b);
    return typeParameters(a).every((item, index) => isEqualOrLessSpecific(item, others[index] ?? DYN));
  }
  return sameType(a, b);
}

/** A signature with names for its type parameters that nothing else uses. */
export function instantiate(signature: readonly Type[], fresh: () => Type): readonly Type[] {
  if (!signature.some(hasParams)) return signature;
  const renaming = new Substitution();
  const visit = (type: Type): void => {
    if (type.kind === "param" && renaming.find(type) === undefined) renaming.bind(type.name, fresh());
    for (const inner of typeParameters(type)) visit(inner);
  };
  for (const type of signature) visit(type);
  return signature.map((type) => renaming.apply(type, false));
}

function hasParams(type: Type): boolean {
  return type.kind === "param" || typeParameters(type).some(hasParams);
}
