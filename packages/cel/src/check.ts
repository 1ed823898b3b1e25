import {
  qualifiedName,
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type IndexExpr,
  type LiteralType,
  type SelectExpr,
  type StructExpr,
} from "./ast.ts";
import type { CheckInfo } from "./check-info.ts";
import { CheckMessages } from "./check-messages.ts";
import type { Declarations } from "./declarations.ts";
import type { FunctionDeclaration } from "./functions.ts";
import { candidateNames } from "./names.ts";
import type { Issue } from "./source.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  INT,
  NULL,
  STRING,
  UINT,
  isDyn,
  isDynOrError,
  isOptional,
  listOf,
  mapOf,
  opaque,
  optionalOf,
  param,
  sameType,
  typeOf,
  unwrapOptional,
  type Type,
} from "./types.ts";
import { Substitution, instantiate, mostGeneral } from "./unify.ts";

export interface CheckResult {
  readonly type: Type;
  readonly info: CheckInfo;
  readonly issues: readonly Issue[];
}

/** Finds the type of every node, and everything that cannot work. */
export function check(expr: Expr, declarations: Declarations): CheckResult {
  const checker = new Checker(declarations);
  const type = checker.check(expr);
  return checker.finish(type);
}

const literalTypes: Readonly<Record<LiteralType, Type>> = {
  null: NULL,
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  quantity: opaque("kubernetes.Quantity"),
  version: opaque("kubernetes.Semver"),
};

class Checker {
  readonly #declarations: Declarations;
  readonly #messages: CheckMessages;
  readonly #types = new Map<number, Type>();
  readonly #overloads = new Map<number, readonly string[]>();
  readonly #properties = new Map<number, string>();
  readonly #locals: { readonly name: string; readonly type: Type }[] = [];
  readonly #substitution = new Substitution();
  #freshParams = 0;

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
    this.#messages = new CheckMessages(declarations);
  }

  finish(type: Type): CheckResult {
    for (const [id, found] of this.#types) this.#types.set(id, this.#substitution.apply(found, true));
    return {
      type: this.#substitution.apply(type, true),
      info: { types: this.#types, overloads: this.#overloads, properties: this.#properties },
      issues: this.#messages.issues.toSorted((a, b) => a.range.start - b.range.start),
    };
  }

  check(expr: Expr): Type {
    const type = this.#typeOf(expr);
    this.#types.set(expr.id, type);
    return type;
  }

  #typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case "literal":
        return literalTypes[expr.type];
      case "ident":
        return this.#name(expr.name) ?? this.#messages.undeclared(expr, expr.name, this.#localNames());
      case "select":
        return this.#select(expr);
      case "index":
        return this.#index(expr);
      case "call":
        return this.#call(expr);
      case "logical":
        return this.#logical(expr.terms);
      case "conditional":
        return this.#conditional(expr.test, expr.consequence, expr.otherwise, expr);
      case "list": {
        const elements = expr.elements.map(({ value, optional }) => this.#entry(value, optional));
        return listOf(this.#join(elements));
      }
      case "map": {
        const keys = expr.entries.map(({ key }) => this.check(key));
        const values = expr.entries.map(({ value, optional }) => this.#entry(value, optional));
        return mapOf(this.#join(keys), this.#join(values));
      }
      case "struct":
        return this.#struct(expr);
      case "comprehension":
        return this.#comprehension(expr);
      case "bind":
        return this.#withLocals([[expr.name, this.check(expr.value)]], () => this.check(expr.body));
      case "block":
        return this.#block(expr.slots, expr.body, 0);
      case "optional-map":
        return this.#optionalMap(expr);
    }
  }

  #assign(from: Type, to: Type): boolean {
    return this.#substitution.attempt(() => this.#substitution.assign(from, to));
  }

  #resolve(type: Type): Type {
    return this.#substitution.apply(type, false);
  }

  #freshParam(): Type {
    this.#freshParams += 1;
    return param(`_var${this.#freshParams}`);
  }

  #localNames(): string[] {
    return this.#locals.map((local) => local.name);
  }

  #withLocals<T>(locals: readonly (readonly [string, Type])[], body: () => T): T {
    for (const [name, type] of locals) this.#locals.push({ name, type });
    const result = body();
    this.#locals.length -= locals.length;
    return result;
  }

  #name(name: string): Type | undefined {
    const local = this.#locals.findLast((candidate) => candidate.name === name);
    if (local !== undefined) return local.type;
    for (const candidate of candidateNames(this.#declarations.container, name)) {
      const variable = this.#declarations.variables.get(candidate);
      if (variable !== undefined) return variable;
      const type = this.#declarations.findTypeName(candidate);
      if (type !== undefined) return typeOf(type);
    }
    return undefined;
  }

  #isLocalPath(path: string): boolean {
    const root = path.split(".", 1)[0];
    return this.#locals.some((local) => local.name === root);
  }

  #select(expr: SelectExpr): Type {
    if (!expr.test && !expr.optional) {
      const path = qualifiedName(expr);
      const named = path === undefined || this.#isLocalPath(path) ? undefined : this.#name(path);
      if (named !== undefined) return named;
    }
    const operand = this.#resolve(this.check(expr.operand));
    const field = this.#field(expr, unwrapOptional(operand));
    const result = isOptional(operand) || expr.optional ? optionalOf(field) : field;
    return expr.test ? BOOL : this.#resolve(result);
  }

  #field(expr: SelectExpr, target: Type): Type {
    if (target.kind === "map") return target.value;
    if (target.kind === "struct") {
      const info = this.#declarations.types.findField(target.name, expr.field);
      if (info?.property !== undefined) this.#properties.set(expr.id, info.property);
      return info?.type ?? this.#messages.undefinedField(expr, target.name, expr.field);
    }
    // Of a parameter nothing is known; from here on it is dynamic.
    if (target.kind === "param") this.#assign(DYN, target);
    else if (!isDynOrError(target)) this.#messages.noFields(expr, target);
    return DYN;
  }

  #index(expr: IndexExpr): Type {
    const operand = this.#resolve(this.check(expr.operand));
    const index = this.check(expr.index);
    const target = unwrapOptional(operand);
    const key = this.#freshParam();
    const value = this.#freshParam();
    const name = expr.optional ? "_[?_]" : "_[_]";
    const fits: [string, Type, Type, Type][] = [
      ["index_list", listOf(value), INT, value],
      ["index_map", mapOf(key, value), key, value],
    ];
    const found = fits.filter(([, container, position]) =>
      this.#substitution.attempt(() => this.#substitution.assignAll([target, index], [container, position])),
    );
    const [only] = found;
    if (only === undefined)
      return this.#messages.noOverload(
        expr,
        name,
        [operand, index].map((type) => this.#dyn(type)),
        false,
      );
    if (found.length > 1) return DYN;
    const element = this.#resolve(only[3]);
    return isOptional(operand) || expr.optional ? optionalOf(element) : element;
  }

  #dyn(type: Type): Type {
    return this.#substitution.apply(type, true);
  }

  #call(expr: CallExpr): Type {
    const argTypes = expr.args.map((arg) => this.check(arg));
    const { functions, container } = this.#declarations;
    const find = (name: string): FunctionDeclaration | undefined => {
      const found = candidateNames(container, name).find((candidate) => functions.has(candidate));
      return found === undefined ? undefined : functions.get(found);
    };
    if (expr.target === undefined) {
      const declaration = find(expr.name);
      if (declaration === undefined) return this.#messages.undeclaredFunction(expr, expr.name);
      return this.#overload(expr, declaration, argTypes, false);
    }
    const prefix = qualifiedName(expr.target);
    const qualified = prefix === undefined || this.#isLocalPath(prefix) ? undefined : find(`${prefix}.${expr.name}`);
    if (qualified !== undefined) return this.#overload(expr, qualified, argTypes, false);
    const target = this.check(expr.target);
    const declaration = functions.get(expr.name);
    if (declaration === undefined) return this.#messages.undeclaredFunction(expr, expr.name);
    return this.#overload(expr, declaration, [target, ...argTypes], true);
  }

  #overload(expr: CallExpr, declaration: FunctionDeclaration, argTypes: readonly Type[], isMember: boolean): Type {
    let result: Type | undefined;
    const ids: string[] = [];
    for (const overload of declaration.overloads) {
      if (overload.member !== isMember || overload.params.length !== argTypes.length) continue;
      const signature = instantiate([overload.result, ...overload.params], () => this.#freshParam());
      const [resultType = DYN, ...params] = signature;
      if (!this.#substitution.attempt(() => this.#substitution.assignAll(argTypes, params))) continue;
      ids.push(overload.id);
      const found = this.#resolve(resultType);
      if (result === undefined) result = found;
      else if (!isDyn(result) && !(sameType(found, result) && found.kind !== "type")) result = DYN;
    }
    if (result === undefined) {
      return this.#messages.noOverload(
        expr,
        declaration.name,
        argTypes.map((type) => this.#dyn(type)),
        isMember,
      );
    }
    this.#overloads.set(expr.id, ids);
    return result;
  }

  #logical(terms: readonly Expr[]): Type {
    for (const term of terms) {
      const type = this.check(term);
      if (!this.#assign(type, BOOL)) this.#messages.mismatch(term, BOOL, this.#dyn(type));
    }
    return BOOL;
  }

  #conditional(test: Expr, then: Expr, otherwise: Expr, expr: Expr): Type {
    const types = [this.check(test), this.check(then), this.check(otherwise)];
    const result = this.#freshParam();
    if (!this.#substitution.attempt(() => this.#substitution.assignAll(types, [BOOL, result, result]))) {
      return this.#messages.noOverload(
        expr,
        "_?_:_",
        types.map((type) => this.#dyn(type)),
        false,
      );
    }
    return this.#resolve(result);
  }

  /** The type of a list element or map value, which an optional entry holds inside an optional. */
  #entry(value: Expr, optional: boolean): Type {
    const type = this.check(value);
    if (!optional) return type;
    const resolved = this.#resolve(type);
    if (!isOptional(resolved) && !isDyn(resolved)) this.#messages.mismatch(value, optionalOf(resolved), resolved);
    return unwrapOptional(resolved);
  }

  #join(types: readonly Type[]): Type {
    let joined: Type | undefined;
    for (const type of types) {
      if (joined === undefined) joined = type;
      else joined = this.#assign(joined, type) ? mostGeneral(joined, type) : DYN;
    }
    return joined ?? this.#freshParam();
  }

  #struct(expr: StructExpr): Type {
    const { types, container } = this.#declarations;
    const found = candidateNames(container, expr.typeName)
      .map((name) => types.findType(name))
      .find((type) => type !== undefined);
    if (found?.kind !== "struct") {
      for (const field of expr.fields) this.check(field.value);
      const named = this.#name(expr.typeName);
      return named === undefined
        ? this.#messages.undeclared(expr, expr.typeName, [])
        : this.#messages.notAMessage(expr, this.#dyn(named));
    }
    for (const field of expr.fields) {
      const valueType = this.#entry(field.value, field.optional);
      const declared =
        types.findField(found.name, field.name)?.type ?? this.#messages.undefinedField(field, found.name, field.name);
      if (!this.#assign(declared, valueType)) {
        this.#messages.fieldMismatch(field, field.name, this.#dyn(declared), this.#dyn(valueType));
      }
    }
    return found;
  }

  #comprehension(expr: ComprehensionExpr): Type {
    const range = this.#resolve(this.check(expr.range));
    const [key, value] = this.#rangeTypes(expr.range, range);
    const locals: [string, Type][] =
      expr.variable2 === undefined
        ? [[expr.variable, range.kind === "list" ? value : key]]
        : [
            [expr.variable, key],
            [expr.variable2, value],
          ];
    return this.#withLocals(locals, () => {
      if (expr.filter !== undefined) this.#expectBool(expr.filter);
      return this.#comprehensionResult(expr, locals);
    });
  }

  #comprehensionResult(expr: ComprehensionExpr, locals: readonly [string, Type][]): Type {
    switch (expr.macro) {
      case "all":
      case "exists":
      case "exists_one":
        this.#expectBool(expr.body);
        return BOOL;
      case "filter":
        this.#expectBool(expr.body);
        return this.#resolve(listOf(locals[0]?.[1] ?? DYN));
      case "map":
      case "transformList":
        return this.#resolve(listOf(this.check(expr.body)));
      case "transformMap":
        return this.#resolve(mapOf(locals[0]?.[1] ?? DYN, this.check(expr.body)));
      case "transformMapEntry": {
        const body = this.check(expr.body);
        const [key, value] = [this.#freshParam(), this.#freshParam()];
        if (!this.#assign(body, mapOf(key, value)))
          this.#messages.mismatch(expr.body, mapOf(DYN, DYN), this.#dyn(body));
        return this.#resolve(mapOf(key, value));
      }
    }
  }

  #expectBool(expr: Expr): void {
    const type = this.check(expr);
    if (!this.#assign(BOOL, type)) this.#messages.mismatch(expr, BOOL, this.#dyn(type));
  }

  /** Key and value of each round: index and element of a list, key and value of a map. */
  #rangeTypes(expr: Expr, range: Type): [Type, Type] {
    if (range.kind === "list") return [INT, range.element];
    if (range.kind === "map") return [range.key, range.value];
    if (isDynOrError(range) || range.kind === "param") {
      this.#assign(DYN, range);
      return [DYN, DYN];
    }
    this.#messages.noRange(expr, this.#dyn(range));
    return [ERROR, ERROR];
  }

  #block(slots: readonly Expr[], body: Expr, index: number): Type {
    const slot = slots[index];
    if (slot === undefined) return this.check(body);
    return this.#withLocals([[`@index${index}`, this.check(slot)]], () => this.#block(slots, body, index + 1));
  }

  #optionalMap(expr: Extract<Expr, { kind: "optional-map" }>): Type {
    const target = this.check(expr.target);
    const inner = this.#freshParam();
    if (!this.#assign(target, optionalOf(inner))) {
      this.#messages.noOverload(expr, expr.flat ? "optFlatMap" : "optMap", [this.#dyn(target)], true);
    }
    const body = this.#withLocals([[expr.variable, this.#resolve(inner)]], () => this.check(expr.body));
    if (!expr.flat) return optionalOf(body);
    if (!this.#assign(body, optionalOf(this.#freshParam()))) {
      this.#messages.mismatch(expr.body, optionalOf(DYN), this.#dyn(body));
    }
    return this.#resolve(body);
  }
}
