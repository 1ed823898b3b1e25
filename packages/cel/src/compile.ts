import { fieldReader, fieldTester, optionalElement, optionalField, readElement } from "./access.ts";
import { qualifiedName, type CallExpr, type Expr, type IndexExpr, type SelectExpr } from "./ast.ts";
import { constant, located, type CompileContext, type Compiled } from "./compiled.ts";
import { compileCall } from "./compile-call.ts";
import { compileComprehension } from "./compile-comprehension.ts";
import { compileList, compileMap, compileStruct } from "./compile-literal.ts";
import type { CheckInfo } from "./check-info.ts";
import type { Declarations } from "./declarations.ts";
import type { Evaluate, Frame } from "./frame.ts";
import { candidateNames } from "./names.ts";
import type { Issue, Range } from "./source.ts";
import { runtimeTypeName } from "./types.ts";
import { CelError, CelObject, Optional, TypeValue, type Value } from "./values.ts";

export interface CompiledExpression {
  readonly run: Evaluate;
  readonly slotCount: number;
  /** Which variables it reads, and the slot that each is expected in. */
  readonly inputs: readonly { readonly name: string; readonly slot: number }[];
  /** Conversions of constants that fail whenever they run. */
  readonly hopeless: readonly Issue[];
}

/** Turns a tree into closures. Names are resolved here, once; running only reads slots. */
export function compileExpression(expr: Expr, declarations: Declarations, info: CheckInfo): CompiledExpression {
  const compiler = new Compiler(declarations, info);
  const { run } = compiler.compile(expr);
  return { run, slotCount: compiler.slotCount, inputs: compiler.inputs, hopeless: compiler.hopeless };
}

class Compiler implements CompileContext {
  readonly declarations: Declarations;
  readonly info: CheckInfo;
  readonly inputs: { name: string; slot: number }[] = [];
  readonly hopeless: Issue[] = [];
  readonly #locals: { name: string; slot: number }[] = [];
  #slotCount = 0;

  constructor(declarations: Declarations, info: CheckInfo) {
    this.declarations = declarations;
    this.info = info;
  }

  get slotCount(): number {
    return this.#slotCount;
  }

  newSlot(): number {
    this.#slotCount += 1;
    return this.#slotCount - 1;
  }

  withLocal<T>(name: string, slot: number, body: () => T): T {
    this.#locals.push({ name, slot });
    const result = body();
    this.#locals.pop();
    return result;
  }

  compile(expr: Expr): Compiled {
    switch (expr.kind) {
      case "literal":
        return constant(expr.value);
      case "ident":
        return this.#name(expr.name) ?? this.#unknown(expr, expr.name);
      case "select":
        return this.#select(expr);
      case "index":
        return this.#index(expr);
      case "call":
        return this.#call(expr);
      case "logical":
        return logical(
          expr.operator === "||",
          expr.terms.map((term) => this.compile(term).run),
        );
      case "conditional":
        return this.#conditional(this.compile(expr.test), this.compile(expr.consequence), this.compile(expr.otherwise));
      case "list":
        return compileList(this, expr);
      case "map":
        return compileMap(this, expr);
      case "struct":
        return compileStruct(this, expr);
      case "comprehension":
        return compileComprehension(this, expr);
      case "bind": {
        const slot = this.newSlot();
        const value = this.compile(expr.value).run;
        const body = this.withLocal(expr.name, slot, () => this.compile(expr.body).run);
        return {
          run: (frame) => {
            frame.slots[slot] = value(frame);
            return body(frame);
          },
        };
      }
      case "block":
        return this.#block(expr.slots, expr.body);
      case "optional-map":
        return this.#optionalMap(expr);
    }
  }

  /** A variable, type or local by name; undefined when there is none. */
  #name(name: string): Compiled | undefined {
    const local = this.#locals.findLast((candidate) => candidate.name === name);
    if (local !== undefined) return readSlot(local.slot, name);
    for (const candidate of candidateNames(this.declarations.container, name)) {
      if (this.declarations.variables.has(candidate)) return readSlot(this.#inputSlot(candidate), candidate);
      const type = this.declarations.findTypeName(candidate);
      if (type !== undefined) return constant(new TypeValue(runtimeTypeName(type)));
    }
    return undefined;
  }

  #inputSlot(name: string): number {
    const known = this.inputs.find((input) => input.name === name);
    if (known !== undefined) return known.slot;
    const slot = this.newSlot();
    this.inputs.push({ name, slot });
    return slot;
  }

  #unknown(range: Range, name: string): Compiled {
    const place = { start: range.start, end: range.end };
    return { run: () => new CelError(`no such attribute(s): ${name}`, place), attribute: 1 };
  }

  /** Whether the first name of a path is a macro's variable, which then wins over variables with dots in their names. */
  #isLocalPath(path: string): boolean {
    const root = path.split(".", 1)[0];
    return this.#locals.some((local) => local.name === root);
  }

  #select(expr: SelectExpr): Compiled {
    if (!expr.test && !expr.optional) {
      const path = qualifiedName(expr);
      const named = path === undefined || this.#isLocalPath(path) ? undefined : this.#name(path);
      if (named !== undefined) return named;
    }
    const operand = this.compile(expr.operand);
    const property = this.info.properties.get(expr.id) ?? expr.field;
    const target = operand.run;
    const base = operand.attribute === undefined ? 1 : 0;
    if (expr.test) {
      const test = fieldTester(property);
      return {
        // The last step of has() is free in Kubernetes.
        run: (frame) => {
          const container = target(frame);
          if (container instanceof CelError) {
            frame.cost -= 1 - base;
            return container;
          }
          frame.cost += base;
          return located(test(container), expr);
        },
      };
    }
    const attribute = operand.attribute ?? 1;
    if (expr.optional) {
      return optionalStep(expr, attribute, base, target, (value) => optionalField(value, property));
    }
    const read = fieldReader(property, expr.field);
    const cost = base + 1;
    return {
      attribute,
      run: (frame) => {
        const container = target(frame);
        if (container instanceof CelObject && isNothing(container)) return container;
        const value = read(container);
        frame.cost += value === Optional.none ? base : cost;
        return typeof value === "object" && value instanceof CelError ? located(value, expr) : value;
      },
    };
  }

  #index(expr: IndexExpr): Compiled {
    const operand = this.compile(expr.operand);
    const index = this.compile(expr.index);
    const target = operand.run;
    const position = index.run;
    const attribute = operand.attribute ?? 1;
    const fixed = index.constant;
    // The step, the price of a path that begins here, and a rebate when the index is itself a path.
    const base = (operand.attribute === undefined ? 1 : 0) - (fixed === undefined ? (index.attribute ?? 0) : 0);
    if (expr.optional) {
      return optionalStep(expr, attribute, base, target, (value, frame) => optionalElement(value, position(frame)));
    }
    const cost = base + 1;
    const field = typeof fixed === "string" ? fieldReader(fixed) : undefined;
    return {
      attribute,
      run: (frame) => {
        const container = target(frame);
        if (container instanceof CelObject && isNothing(container)) return container;
        frame.cost += cost;
        const value = field === undefined ? readElement(container, position(frame)) : field(container);
        return typeof value === "object" && value instanceof CelError ? located(value, expr) : value;
      },
    };
  }

  /** A function may be called by a qualified name, in which case what looks like the target is part of the name. */
  #call(expr: CallExpr): Compiled {
    const { functions, container } = this.declarations;
    const prefix = expr.target === undefined ? undefined : qualifiedName(expr.target);
    if (prefix !== undefined && !this.#isLocalPath(prefix)) {
      const name = candidateNames(container, `${prefix}.${expr.name}`).find((candidate) => functions.has(candidate));
      if (name !== undefined) return compileCall(this, expr, name, expr.args, false);
    }
    if (expr.target !== undefined) return compileCall(this, expr, expr.name, [expr.target, ...expr.args], true);
    const name = candidateNames(container, expr.name).find((candidate) => functions.has(candidate));
    return compileCall(this, expr, name ?? expr.name, expr.args, false);
  }

  #conditional(test: Compiled, then: Compiled, otherwise: Compiled): Compiled {
    const condition = test.run;
    const whenTrue = then.run;
    const whenFalse = otherwise.run;
    // A variable in a branch is read without the price of a variable.
    const thenRebate = then.attribute ?? 0;
    const otherwiseRebate = otherwise.attribute ?? 0;
    return {
      attribute: 0,
      run: (frame) => {
        const chosen = condition(frame);
        if (chosen === true) {
          frame.cost -= thenRebate;
          return whenTrue(frame);
        }
        if (chosen === false) {
          frame.cost -= otherwiseRebate;
          return whenFalse(frame);
        }
        return chosen instanceof CelError ? chosen : new CelError("no such overload");
      },
    };
  }

  #block(slots: readonly Expr[], body: Expr): Compiled {
    const [first, ...rest] = slots;
    if (first === undefined) return this.compile(body);
    const place = this.newSlot();
    const value = this.compile(first).run;
    const index = this.#locals.filter((local) => local.name.startsWith("@index")).length;
    const inner = this.withLocal(`@index${index}`, place, () => this.#block(rest, body).run);
    return {
      run: (frame) => {
        frame.slots[place] = value(frame);
        return inner(frame);
      },
    };
  }

  #optionalMap(expr: Extract<Expr, { kind: "optional-map" }>): Compiled {
    const target = this.compile(expr.target).run;
    const slot = this.newSlot();
    const body = this.withLocal(expr.variable, slot, () => this.compile(expr.body).run);
    const { flat } = expr;
    return {
      run: (frame) => {
        const before = frame.cost;
        const optional = target(frame);
        if (optional instanceof CelError) return optional;
        if (!(optional instanceof Optional)) return new CelError("no such overload", expr);
        if (optional.value === undefined) {
          frame.cost += 2;
          return optional;
        }
        // The macro reads its target twice: once to see whether there is a value, once to get it.
        frame.cost += frame.cost - before + (flat ? 2 : 3);
        frame.slots[slot] = optional.value;
        const result = body(frame);
        return flat || result instanceof CelError ? result : new Optional(result);
      },
    };
  }
}

/** An error or an empty optional: steps after it are neither taken nor charged. */
function isNothing(value: CelObject): boolean {
  return value instanceof CelError || (value instanceof Optional && value.value === undefined);
}

/** A step with `?`: it is charged only when it finds something. */
function optionalStep(
  range: Range,
  attribute: 0 | 1,
  base: number,
  target: Evaluate,
  read: (container: Value, frame: Frame) => Value,
): Compiled {
  return {
    attribute,
    run: (frame) => {
      const container = target(frame);
      if (container instanceof CelError) return container;
      frame.cost += base;
      const value = read(container, frame);
      if (value instanceof CelError) return located(value, range);
      if (!(value instanceof Optional) || value.value !== undefined) frame.cost += 1;
      return value;
    },
  };
}

function readSlot(slot: number, name: string): Compiled {
  return {
    attribute: 1,
    run: (frame) => {
      frame.cost += 1;
      const value = frame.slots[slot];
      return value === undefined ? new CelError(`no such attribute(s): ${name}`) : value;
    },
  };
}

/** `&&` and `||`: the deciding operand wins over errors in the others, wherever it stands. */
function logical(decisive: boolean, terms: readonly Evaluate[]): Compiled {
  const [first, second] = terms;
  if (terms.length === 2 && first !== undefined && second !== undefined) {
    return {
      run: (frame) => {
        const left = first(frame);
        if (left === decisive) return decisive;
        const right = second(frame);
        if (right === decisive) return decisive;
        if (left === !decisive && right === !decisive) return !decisive;
        return firstFailure(left, right);
      },
    };
  }
  return {
    run: (frame: Frame) => {
      let failure: Value | undefined;
      for (const term of terms) {
        const value = term(frame);
        if (value === decisive) return decisive;
        if (value !== !decisive) failure = firstFailure(failure ?? value, value);
      }
      return failure ?? !decisive;
    },
  };
}

function firstFailure(left: Value, right: Value): CelError {
  if (left instanceof CelError) return left;
  return right instanceof CelError ? right : new CelError("no such overload");
}
