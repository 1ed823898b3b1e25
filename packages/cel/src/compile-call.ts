import type { CallExpr, Expr } from "./ast.ts";
import { constant, located, type CompileContext, type Compiled } from "./compiled.ts";
import { compileOperator } from "./compile-operator.ts";
import { checkCost, type Evaluate, type Frame } from "./frame.ts";
import { noSuchOverload, type FunctionDeclaration } from "./functions.ts";
import { CelError, Optional, Uint, adaptList, mapKeyOf, type Value } from "./values.ts";

const conversions: ReadonlySet<string> = new Set(
  "bool bytes double duration dyn int string timestamp type uint".split(" "),
);

type Apply = (...values: Value[]) => Value;
type Charge = (frame: Frame, values: readonly Value[], result: Value) => void;

export function compileCall(
  compiler: CompileContext,
  expr: CallExpr,
  name: string,
  operands: readonly Expr[],
  isMember: boolean,
): Compiled {
  const declaration = compiler.declarations.functions.get(name);
  const compiled = operands.map((operand) => compiler.compile(operand));
  if (declaration === undefined) {
    return { run: () => new CelError(`unbound function: ${name}`, { start: expr.start, end: expr.end }) };
  }
  const overloadIds = compiler.info.overloads.get(expr.id) ?? [];
  const apply = declaration.evaluate ?? dispatcherOf(declaration, operands.length, isMember);
  const folded = fold(compiler, expr, name, compiled, apply);
  if (folded !== undefined) return folded;
  if (name === "@in" && overloadIds[0] === "in_list" && overloadIds.length === 1) {
    const membership = compileMembership(compiled);
    if (membership !== undefined) return membership;
  }
  const operator = compileOperator(expr, name, compiled, overloadIds);
  if (operator !== undefined) return operator;
  if (isMember && (name === "or" || name === "orValue")) {
    const [target, alternative] = compiled;
    if (target !== undefined && alternative !== undefined) return compileAlternative(target, alternative, apply);
  }
  const charge = charger(declaration, overloadIds);
  const runs = compiled.map(({ run }) => run);
  return { run: invoke(expr, runs, apply, charge) };
}

/** Conversions of constants are done at once, and are free as in Kubernetes. */
function fold(
  compiler: CompileContext,
  expr: CallExpr,
  name: string,
  operands: readonly Compiled[],
  apply: Apply,
): Compiled | undefined {
  const [only] = operands;
  if (operands.length !== 1 || only?.constant === undefined || !conversions.has(name)) return undefined;
  const value = apply(only.constant);
  if (!(value instanceof CelError)) return constant(value);
  compiler.hopeless.push({ range: { start: expr.at, end: expr.end }, message: value.message });
  return undefined;
}

/** `x in ["a", "b"]` with constants only: a set, and free. */
function compileMembership(operands: readonly Compiled[]): Compiled | undefined {
  const [element, list] = operands;
  if (element === undefined || !Array.isArray(list?.constant)) return undefined;
  const items: readonly Value[] = list.constant;
  if (items.length === 0) return constant(false);
  // The key of a number is the same for int, uint and a whole double, so that 1u finds 1.
  const keys = items.map((item) => (typeof item === "object" && !(item instanceof Uint) ? undefined : mapKeyOf(item)));
  if (keys.includes(undefined)) return undefined;
  const set = new Set<Value | undefined>(keys);
  const run = element.run;
  return {
    run: (frame) => {
      const value = run(frame);
      if (typeof value === "string") return set.has(value);
      return value instanceof CelError ? value : set.has(mapKeyOf(value));
    },
  };
}

/** `optional.or(…)` and `optional.orValue(…)`: the alternative is looked at only when it is needed. */
function compileAlternative(target: Compiled, alternative: Compiled, apply: Apply): Compiled {
  return {
    run: (frame) => {
      const optional = target.run(frame);
      if (optional instanceof CelError) return optional;
      if (optional instanceof Optional && optional.value !== undefined) return apply(optional, optional);
      const other = alternative.run(frame);
      return other instanceof CelError ? other : apply(optional, other);
    },
  };
}

/** Adds what the call costs. With one overload known to the checker its price holds, otherwise the function's or 1. */
function charger(declaration: FunctionDeclaration, overloadIds: readonly string[]): Charge | undefined {
  const [id = ""] = overloadIds;
  const { cost, overloadCost } = declaration;
  const known = overloadIds.length === 1 ? overloadCost : undefined;
  if (cost === undefined && known === undefined) return undefined;
  return (frame, values, result) => {
    frame.cost += cost?.(values, result, id) ?? known?.(values, result, id) ?? 1;
    checkCost(frame);
  };
}

/** The call by number of operands, so that the frequent ones spread no array. */
function invoke(expr: CallExpr, operands: readonly Evaluate[], apply: Apply, charge: Charge | undefined): Evaluate {
  const [first, second] = operands;
  const finish = (frame: Frame, values: readonly Value[], value: Value): Value => {
    if (charge === undefined) frame.cost += 1;
    else charge(frame, values, value);
    return typeof value === "object" && value instanceof CelError ? located(value, expr) : value;
  };
  if (operands.length === 1 && first !== undefined) {
    return (frame) => {
      const value = ready(first(frame));
      return value instanceof CelError ? failed(frame, value) : finish(frame, [value], apply(value));
    };
  }
  if (operands.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      const a = ready(first(frame));
      const b = ready(second(frame));
      if (a instanceof CelError) return failed(frame, a);
      return b instanceof CelError ? failed(frame, b) : finish(frame, [a, b], apply(a, b));
    };
  }
  return (frame) => {
    const values: Value[] = [];
    for (const operand of operands) {
      const value = ready(operand(frame));
      if (value instanceof CelError) return value;
      values.push(value);
    }
    return finish(frame, values, apply(...values));
  };
}

/** A call that cannot be made for want of an argument is charged all the same. */
function failed(frame: Frame, error: CelError): CelError {
  frame.cost += 1;
  return error;
}

/** Functions see lists without the plain fractions that JSON may have in them. */
function ready(value: Value): Value {
  return Array.isArray(value) ? adaptList(value) : value;
}

const dispatchers = new WeakMap<FunctionDeclaration, Map<number, Apply>>();

/** The dispatcher of a function for a number of operands, made once. */
function dispatcherOf(declaration: FunctionDeclaration, count: number, isMember: boolean): Apply {
  const known = dispatchers.get(declaration) ?? new Map<number, Apply>();
  dispatchers.set(declaration, known);
  const key = isMember ? count : -1 - count;
  const apply = known.get(key) ?? dispatcher(declaration, count, isMember);
  known.set(key, apply);
  return apply;
}

/** Picks the overload by the values' types. */
function dispatcher(declaration: FunctionDeclaration, count: number, isMember: boolean): Apply {
  const candidates = declaration.overloads.flatMap(({ member, accepts, call }) =>
    member === isMember && accepts.length === count && call !== undefined ? [{ accepts, call }] : [],
  );
  // One and two operands are nearly all calls, and need no loop over operands.
  if (count === 1) {
    const unary = candidates.flatMap(({ accepts: [first], call }) => (first === undefined ? [] : [{ first, call }]));
    return (a = null) => {
      for (const { first, call } of unary) if (first(a)) return call(a);
      return noSuchOverload(declaration, [a]);
    };
  }
  if (count === 2) {
    const binary = candidates.flatMap(({ accepts: [first, second], call }) =>
      first === undefined || second === undefined ? [] : [{ first, second, call }],
    );
    return (a = null, b = null) => {
      for (const { first, second, call } of binary) if (first(a) && second(b)) return call(a, b);
      return noSuchOverload(declaration, [a, b]);
    };
  }
  return (...values) => {
    const fitting = candidates.find(({ accepts }) =>
      accepts.every((accept, index) => {
        const value = values[index];
        return value !== undefined && accept(value);
      }),
    );
    return fitting === undefined ? noSuchOverload(declaration, values) : fitting.call(...values);
  };
}
