import type { CallExpr, Expr } from "./ast.ts";
import { constant, located, type CompileContext, type Compiled } from "./compiled.ts";
import { checkCost, type Evaluate, type Frame } from "./frame.ts";
import { noSuchOverload, type FunctionDeclaration, type Overload } from "./functions.ts";
import { CelError, Uint, adaptList, mapKeyOf, type Value } from "./values.ts";

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
  const apply = declaration.evaluate ?? dispatcher(declaration, operands.length, isMember);
  const folded = fold(name, compiled, apply);
  if (folded !== undefined) return folded;
  if (name === "@in" && overloadIds[0] === "in_list" && overloadIds.length === 1) {
    const membership = compileMembership(compiled);
    if (membership !== undefined) return membership;
  }
  const charge = charger(declaration, overloadIds);
  const strict = declaration.evaluate !== undefined;
  return {
    run: invoke(
      expr,
      compiled.map(({ run }) => run),
      apply,
      charge,
      strict,
    ),
  };
}

/** Conversions of constants are done at once, and are free as in Kubernetes. */
function fold(name: string, operands: readonly Compiled[], apply: Apply): Compiled | undefined {
  const [only] = operands;
  if (operands.length !== 1 || only?.constant === undefined || !conversions.has(name)) return undefined;
  const value = apply(only.constant);
  return value instanceof CelError ? undefined : constant(value);
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

/** The call by number of operands, so that the frequent ones make no array. */
function invoke(
  expr: CallExpr,
  operands: readonly Evaluate[],
  apply: Apply,
  charge: Charge | undefined,
  strict: boolean,
): Evaluate {
  const [first, second] = operands;
  const finish = (value: Value): Value => (value instanceof CelError ? located(value, expr) : value);
  if (operands.length === 2 && first !== undefined && second !== undefined && strict) {
    return (frame) => {
      const left = first(frame);
      const right = second(frame);
      if (left instanceof CelError) return left;
      if (right instanceof CelError) return right;
      const value = apply(left, right);
      if (charge === undefined) frame.cost += 1;
      else charge(frame, [left, right], value);
      return finish(value);
    };
  }
  return (frame) => {
    const values: Value[] = [];
    for (const operand of operands) {
      const value = operand(frame);
      if (value instanceof CelError) return value;
      values.push(Array.isArray(value) ? adaptList(value) : value);
    }
    const value = apply(...values);
    if (charge === undefined) frame.cost += 1;
    else charge(frame, values, value);
    return finish(value);
  };
}

/** Picks the overload by the values' types. */
function dispatcher(declaration: FunctionDeclaration, count: number, isMember: boolean): Apply {
  const candidates = declaration.overloads.filter(
    (overload) => overload.member === isMember && overload.params.length === count && overload.call !== undefined,
  );
  const fits = (overload: Overload, values: readonly Value[]): boolean => {
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index];
      if (value === undefined || overload.accepts[index]?.(value) !== true) return false;
    }
    return true;
  };
  return (...values) => {
    for (const overload of candidates) {
      if (overload.call !== undefined && fits(overload, values)) return overload.call(...values);
    }
    return noSuchOverload(declaration.name, values);
  };
}
