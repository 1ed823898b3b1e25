import { prices, sizeOf } from "../cost-rules.ts";
import { celEquals, compareNumbers, numberOf } from "../equality.ts";
import { args, declare, global, type CallCost, type FunctionDeclaration, type Param } from "../functions.ts";
import { compareText } from "../text.ts";
import { Duration, Timestamp } from "../time.ts";
import { BOOL, param } from "../types.ts";
import { CelError, adapt, isMap, mapGet, type Value } from "../values.ts";

/** Negative, zero or positive; an error when the two cannot be ordered. */
export function compareValues(a: Value, b: Value): number | CelError {
  const left = numberOf(a);
  const right = numberOf(b);
  if (left !== undefined && right !== undefined) {
    return compareNumbers(left, right) ?? new CelError("NaN values cannot be ordered");
  }
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return a.seconds - b.seconds || a.nanos - b.nanos;
  if (a instanceof Duration && b instanceof Duration) return a.nanos < b.nanos ? -1 : Number(a.nanos > b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (a instanceof CelError) return a;
  return b instanceof CelError ? b : new CelError("no such overload");
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

type Ordering = (a: Value, b: Value) => Value;

const ordering =
  (name: string, test: (order: number) => boolean): Ordering =>
  (a, b) => {
    const order = compareValues(a, b);
    if (typeof order === "number") return test(order);
    // What has no order at all is told apart from what has none with the other side.
    const orderless = a === null || Array.isArray(a) || isMap(a);
    return orderless && !(b instanceof CelError) ? new CelError(`no such overload: ${name}`) : order;
  };

const slowLess = ordering("_<_", (order) => order < 0);
const slowLessOrEqual = ordering("_<=_", (order) => order <= 0);
const slowGreater = ordering("_>_", (order) => order > 0);
const slowGreaterOrEqual = ordering("_>=_", (order) => order >= 0);

// Ints are by far the most frequent operands; each operator sees to them before anything else.
export const less: Ordering = (a, b) => (typeof a === "number" && typeof b === "number" ? a < b : slowLess(a, b));
export const lessOrEqual: Ordering = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a <= b : slowLessOrEqual(a, b);
export const greater: Ordering = (a, b) => (typeof a === "number" && typeof b === "number" ? a > b : slowGreater(a, b));
export const greaterOrEqual: Ordering = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a >= b : slowGreaterOrEqual(a, b);

/** `element in container` */
export function contains(element: Value, container: Value): Value {
  if (element instanceof CelError) return element;
  if (Array.isArray(container)) return container.some((item) => celEquals(element, adapt(item) ?? null));
  if (isMap(container)) return mapGet(container, element) !== undefined;
  return container instanceof CelError ? container : new CelError("no such overload");
}

const shorter: CallCost = ([a = "", b = ""]) => Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * prices.character);
const textOrBytes = /_(?:string|bytes)$/;

const scalars: readonly [string, Param<Value>, Param<Value>][] = [
  ["bool", args.bool, args.bool],
  ["int64", args.int, args.int],
  ["int64_double", args.int, args.double],
  ["int64_uint64", args.int, args.uint],
  ["uint64", args.uint, args.uint],
  ["uint64_double", args.uint, args.double],
  ["uint64_int64", args.uint, args.int],
  ["double", args.double, args.double],
  ["double_int64", args.double, args.int],
  ["double_uint64", args.double, args.uint],
  ["string", args.string, args.string],
  ["bytes", args.bytes, args.bytes],
  ["timestamp", args.timestamp, args.timestamp],
  ["duration", args.duration, args.duration],
];

function relation(name: string, prefix: string, evaluate: Ordering): FunctionDeclaration {
  const overloads = scalars.map(([suffix, left, right]) => global(`${prefix}_${suffix}`, [left, right], BOOL));
  return declare(name, overloads, {
    evaluate,
    overloadCost: (values, result, id) => (textOrBytes.test(id) ? shorter(values, result, id) : undefined),
  });
}

const anything = args.any(param("A"));

export const comparisonFunctions: readonly FunctionDeclaration[] = [
  declare("_==_", [global("equals", [anything, anything], BOOL)], { evaluate: celEquals, overloadCost: shorter }),
  declare("_!=_", [global("not_equals", [anything, anything], BOOL)], {
    evaluate: (a, b) => !celEquals(a, b),
    overloadCost: shorter,
  }),
  relation("_<_", "less", less),
  relation("_<=_", "less_equals", lessOrEqual),
  relation("_>_", "greater", greater),
  relation("_>=_", "greater_equals", greaterOrEqual),
  declare(
    "@in",
    [
      global("in_list", [anything, args.list(param("A"))], BOOL),
      global("in_map", [anything, args.map(param("A"), param("B"))], BOOL),
    ],
    {
      evaluate: contains,
      overloadCost: ([, container], _result, id) =>
        id === "in_list" && container !== undefined ? sizeOf(container) : undefined,
    },
  ),
  declare("!_", [global("logical_not", [args.bool], BOOL)], {
    evaluate: (a) => (typeof a === "boolean" ? !a : a instanceof CelError ? a : new CelError("no such overload")),
  }),
];
