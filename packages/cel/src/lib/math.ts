import { args, declare, global, type FunctionDeclaration, type Param } from "../functions.ts";
import type { Library } from "../library.ts";
import { compareValues } from "../stdlib/comparison.ts";
import { BOOL, DOUBLE, DYN, INT, UINT } from "../types.ts";
import { CelError, Double, Uint, canonicalInt, intFrom, type Value } from "../values.ts";

type Int = number | bigint;

/** The largest (sign 1) or smallest (sign -1); the first of equals. */
function extreme(sign: 1 | -1, values: readonly Value[]): Value {
  const [first, ...rest] = values;
  if (first === undefined) return new CelError("math.@min(list) argument must not be empty");
  let best = first;
  for (const value of rest) {
    const order = compareValues(value, best);
    if (order instanceof CelError) return order;
    if (order * sign > 0) best = value;
  }
  return best;
}

const numeric: readonly [string, Param<Value>][] = [
  ["double", args.double],
  ["int", args.int],
  ["uint", args.uint],
];

function extremes(name: "max" | "min", sign: 1 | -1): FunctionDeclaration {
  const pairs = numeric.flatMap(([left, a]) => numeric.map(([right, b]) => [`${left}_${right}`, a, b] as const));
  return declare(`math.@${name}`, [
    ...numeric.map(([kind, type]) => global(`math_@${name}_${kind}`, [type], type.type, (value) => value)),
    ...pairs.map(([kind, a, b]) =>
      global(`math_@${name}_${kind}`, [a, b], a === b ? a.type : DYN, (x, y) => extreme(sign, [x, y])),
    ),
    ...numeric.map(([kind, type]) =>
      global(`math_@${name}_list_${kind}`, [args.listWhere(type)], type.type, (items) => extreme(sign, items)),
    ),
    // Mixed lists have no static type of their own.
    global(`math_@${name}_list_dyn`, [args.list(DYN)], DYN, (items) => extreme(sign, items)),
  ]);
}

const onDouble = (name: string, call: (value: number) => number): FunctionDeclaration =>
  declare(`math.${name}`, [
    global(`math_${name}_double`, [args.double], DOUBLE, ({ value }) => new Double(call(value))),
  ]);

const testDouble = (name: string, call: (value: number) => boolean): FunctionDeclaration =>
  declare(`math.${name}`, [global(`math_${name}_double`, [args.double], BOOL, ({ value }) => call(value))]);

/** Halves go away from zero, where JavaScript's go up. */
const round = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

function abs(value: Int): Value {
  return value < 0 ? (intFrom(-BigInt(value)) ?? new CelError("integer overflow")) : value;
}

const toUnsigned = (value: bigint): Uint => new Uint(canonicalInt(BigInt.asUintN(64, value)));
const toSigned = (value: bigint): Value => canonicalInt(BigInt.asIntN(64, value));

function bits(name: string, operation: (a: bigint, b: bigint) => bigint): FunctionDeclaration {
  return declare(`math.${name}`, [
    global(`math_${name}_int_int`, [args.int, args.int], INT, (a, b) => toSigned(operation(BigInt(a), BigInt(b)))),
    global(`math_${name}_uint_uint`, [args.uint, args.uint], UINT, (a, b) =>
      toUnsigned(operation(BigInt(a.value), BigInt(b.value))),
    ),
  ]);
}

function shifts(name: string, shift: (value: bigint, by: bigint) => bigint): FunctionDeclaration {
  const apply = (value: bigint, by: Int, result: (value: bigint) => Value): Value => {
    if (by < 0) return new CelError(`math.${name}() negative offset: ${by}`);
    return by > 63 ? result(0n) : result(shift(BigInt.asUintN(64, value), BigInt(by)));
  };
  return declare(`math.${name}`, [
    global(`math_${name}_int_int`, [args.int, args.int], INT, (value, by) => apply(BigInt(value), by, toSigned)),
    global(`math_${name}_uint_int`, [args.uint, args.int], UINT, (value, by) =>
      apply(BigInt(value.value), by, toUnsigned),
    ),
  ]);
}

const functions: readonly FunctionDeclaration[] = [
  extremes("max", 1),
  extremes("min", -1),
  onDouble("ceil", Math.ceil),
  onDouble("floor", Math.floor),
  onDouble("round", round),
  onDouble("trunc", Math.trunc),
  testDouble("isInf", (value) => value === Infinity || value === -Infinity),
  testDouble("isNaN", Number.isNaN),
  testDouble("isFinite", Number.isFinite),
  declare("math.abs", [
    global("math_abs_double", [args.double], DOUBLE, ({ value }) => new Double(Math.abs(value))),
    global("math_abs_int", [args.int], INT, abs),
    global("math_abs_uint", [args.uint], UINT, (value) => value),
  ]),
  declare("math.sign", [
    global("math_sign_double", [args.double], DOUBLE, ({ value }) => new Double(Math.sign(value))),
    global("math_sign_int", [args.int], INT, (value) => (value < 0 ? -1 : value > 0 ? 1 : 0)),
    global("math_sign_uint", [args.uint], UINT, ({ value }) => new Uint(value > 0 ? 1 : 0)),
  ]),
  bits("bitAnd", (a, b) => a & b),
  bits("bitOr", (a, b) => a | b),
  bits("bitXor", (a, b) => a ^ b),
  declare("math.bitNot", [
    global("math_bitNot_int_int", [args.int], INT, (value) => toSigned(~BigInt(value))),
    global("math_bitNot_uint_uint", [args.uint], UINT, ({ value }) => toUnsigned(~BigInt(value))),
  ]),
  shifts("bitShiftLeft", (value, by) => value << by),
  shifts("bitShiftRight", (value, by) => value >> by),
  declare("math.sqrt", [
    global("math_sqrt_double", [args.double], DOUBLE, ({ value }) => new Double(Math.sqrt(value))),
    global("math_sqrt_int", [args.int], DOUBLE, (value) => new Double(Math.sqrt(Number(value)))),
    global("math_sqrt_uint", [args.uint], DOUBLE, ({ value }) => new Double(Math.sqrt(Number(value)))),
  ]),
];

export const mathLibrary: Library = { name: "math", functions, macros: "math" };
