import type { CallExpr } from "./ast.ts";
import { located, type Compiled } from "./compiled.ts";
import { prices, sizeOf } from "./cost-rules.ts";
import { celEquals } from "./equality.ts";
import { checkCost, type Evaluate, type Frame } from "./frame.ts";
import { add, divide, modulo, multiply, subtract } from "./stdlib/arithmetic.ts";
import { contains, greater, greaterOrEqual, less, lessOrEqual } from "./stdlib/comparison.ts";
import { CelError, type Value } from "./values.ts";

type Binary = (a: Value, b: Value) => Value;

/**
 * Operators get closures of their own: they are most of what runs, and the general call makes arrays of operands and looks
 * costs up. `priced` says for which overloads, if the checker found exactly one, the cost depends on sizes.
 */
interface Operator {
  readonly apply: Binary;
  readonly priced?: RegExp;
  readonly price?: (a: Value, b: Value) => number;
}

const shorter = (a: Value, b: Value): number => {
  if (typeof a === "number" || typeof a === "boolean") return 1;
  const size = Math.min(sizeOf(a), sizeOf(b));
  return size <= 10 ? Math.min(size, 1) : Math.ceil(size * prices.character);
};
const textOrBytes = /_(?:string|bytes)$/;

const operators: Readonly<Record<string, Operator>> = {
  "_+_": {
    apply: add,
    priced: /^add_(?:string|bytes)$/,
    price: (a, b) => Math.ceil((sizeOf(a) + sizeOf(b)) * prices.character),
  },
  "_-_": { apply: subtract },
  "_*_": { apply: multiply },
  "_/_": { apply: divide },
  "_%_": { apply: modulo },
  "_<_": { apply: less, priced: textOrBytes, price: shorter },
  "_<=_": { apply: lessOrEqual, priced: textOrBytes, price: shorter },
  "_>_": { apply: greater, priced: textOrBytes, price: shorter },
  "_>=_": { apply: greaterOrEqual, priced: textOrBytes, price: shorter },
  "@in": { apply: contains, priced: /^in_list$/, price: (_, list) => sizeOf(list) },
};

/** The closure of a binary operator, or undefined when the name is not one. */
export function compileOperator(
  expr: CallExpr,
  name: string,
  operands: readonly Compiled[],
  overloadIds: readonly string[],
): Compiled | undefined {
  const [left, right] = operands;
  if (left === undefined || right === undefined) return undefined;
  if (name === "_==_" || name === "_!=_") return equality(left, right, name === "_==_", overloadIds.length === 1);
  const operator = operators[name];
  if (operator === undefined) return undefined;
  const [only] = overloadIds;
  const sized = overloadIds.length === 1 && only !== undefined && operator.priced?.test(only) === true;
  return sized && operator.price !== undefined
    ? { run: sizedOperator(expr, left.run, right.run, operator.apply, operator.price) }
    : { run: plainOperator(expr, left.run, right.run, operator.apply) };
}

function plainOperator(expr: CallExpr, left: Evaluate, right: Evaluate, apply: Binary): Evaluate {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.cost += 1;
    const value = apply(a, b);
    return typeof value === "object" && value instanceof CelError ? located(value, expr) : value;
  };
}

function sizedOperator(
  expr: CallExpr,
  left: Evaluate,
  right: Evaluate,
  apply: Binary,
  price: (a: Value, b: Value) => number,
): Evaluate {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    const value = apply(a, b);
    frame.cost += price(a, b);
    if (frame.cost > frame.limit) checkCost(frame);
    return typeof value === "object" && value instanceof CelError ? located(value, expr) : value;
  };
}

/** `==` and `!=`. The checker always finds their one overload; without it they cost 1 whatever they compare. */
function equality(left: Compiled, right: Compiled, wanted: boolean, sized: boolean): Compiled {
  const first = left.run;
  const second = right.run;
  const general = (frame: Frame, a: Value, b: Value): Value => {
    frame.cost += sized ? equalityPrice(a, b) : 1;
    if (frame.cost > frame.limit) checkCost(frame);
    if (a instanceof CelError) return a;
    return b instanceof CelError ? b : celEquals(a, b) === wanted;
  };
  const fixed = right.constant;
  if (typeof fixed === "string") {
    const price = sized ? (length: number): number => Math.ceil(Math.min(length, fixed.length) / 10) : () => 1;
    return {
      run: (frame) => {
        const a = first(frame);
        if (typeof a !== "string") return general(frame, a, fixed);
        frame.cost += price(a.length);
        return (a === fixed) === wanted;
      },
    };
  }
  return { run: (frame) => general(frame, first(frame), second(frame)) };
}

function equalityPrice(a: Value, b: Value): number {
  // Values of the library's types are compared at once.
  return typeof a === "object" && a !== null && !Array.isArray(a) && sizeOf(a) === 1 ? 1 : shorter(a, b);
}
