import { prices, sizeOf } from "../cost-rules.ts";
import { SchemaList } from "../equality.ts";
import { args, declare, global, type FunctionDeclaration } from "../functions.ts";
import { Duration, Timestamp } from "../time.ts";
import { BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, listOf, param } from "../types.ts";
import { CelError, Double, Uint, canonicalInt, intFrom, isInt, typeNameOf, uintFrom, type Value } from "../values.ts";
import { spend } from "../work.ts";

/** The types that an operator can have on its left, or that answer for themselves; of the others Kubernetes names it. */
const leftTypes: Readonly<Record<string, RegExp>> = {
  "_+_": /^(?:int|uint|double|bytes|list)$/,
  "_-_": /^(?:int|uint|double)$/,
  "_*_": /^(?:int|uint|double)$/,
  "_/_": /^(?:int|uint|double)$/,
  "_%_": /^(?:int|uint)$/,
  "-_": /^(?:int|double|bool)$/,
};
const answering = /^(?:string|google\.protobuf\..*)$/;

function noOverload(name: string, a: Value, b: Value): CelError {
  if (a instanceof CelError) return a;
  if (b instanceof CelError) return b;
  const type = typeNameOf(a);
  const known = answering.test(type) || leftTypes[name]?.test(type) === true;
  return new CelError(known ? "no such overload" : `no such overload: ${name}`);
}

const intOverflow = (): CelError => new CelError("integer overflow");
const uintOverflow = (): CelError => new CelError("unsigned integer overflow");
const timeOverflow = (): CelError => new CelError("timestamp overflow");
const durationOverflow = (): CelError => new CelError("duration overflow");

type Operation = "+" | "-" | "*";

const exact: Readonly<Record<Operation, (a: bigint, b: bigint) => bigint>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
};

/** The slow way for ints that left the safe range, and for uints. */
function exactly(operation: Operation, a: number | bigint, b: number | bigint): bigint {
  return exact[operation](BigInt(a), BigInt(b));
}

export function add(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    return Number.isSafeInteger(sum) ? sum : (intFrom(exactly("+", a, b)) ?? intOverflow());
  }
  if (typeof a === "string" && typeof b === "string") {
    const text = a + b;
    // Of untyped operands Kubernetes does not know that they are text, so that length costs nothing there.
    if (text.length > 1_000) spend(text.length);
    return text;
  }
  if (Array.isArray(a) && Array.isArray(b)) return addLists(a, b);
  if (isInt(a) && isInt(b)) return intFrom(exactly("+", a, b)) ?? intOverflow();
  if (a instanceof Double && b instanceof Double) return new Double(a.value + b.value);
  if (a instanceof Uint && b instanceof Uint) return uintFrom(exactly("+", a.value, b.value)) ?? uintOverflow();
  if (a instanceof Uint8Array && b instanceof Uint8Array) return addBytes(a, b);
  return addTimes(a, b);
}

function addLists(a: readonly Value[], b: readonly Value[]): Value {
  if (a instanceof SchemaList) return a.merge(b);
  spend(a.length + b.length);
  return [...a, ...b];
}

function addBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  spend(a.length + b.length);
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

function addTimes(a: Value, b: Value): Value {
  if (a instanceof Duration && b instanceof Duration) return Duration.of(a.nanos + b.nanos) ?? durationOverflow();
  if (a instanceof Timestamp && b instanceof Duration) {
    return Timestamp.fromNanos(a.totalNanos + b.nanos) ?? timeOverflow();
  }
  if (a instanceof Duration && b instanceof Timestamp) return addTimes(b, a);
  return noOverload("_+_", a, b);
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    return Number.isSafeInteger(difference) ? difference : (intFrom(exactly("-", a, b)) ?? intOverflow());
  }
  if (isInt(a) && isInt(b)) return intFrom(exactly("-", a, b)) ?? intOverflow();
  if (a instanceof Double && b instanceof Double) return new Double(a.value - b.value);
  if (a instanceof Uint && b instanceof Uint) return uintFrom(exactly("-", a.value, b.value)) ?? uintOverflow();
  if (a instanceof Duration && b instanceof Duration) return Duration.of(a.nanos - b.nanos) ?? durationOverflow();
  if (a instanceof Timestamp && b instanceof Duration) {
    return Timestamp.fromNanos(a.totalNanos - b.nanos) ?? timeOverflow();
  }
  if (a instanceof Timestamp && b instanceof Timestamp) {
    return Duration.of(a.totalNanos - b.totalNanos) ?? durationOverflow();
  }
  return noOverload("_-_", a, b);
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    // `+ 0` turns the -0 that JavaScript makes of -1 * 0 into the int 0.
    return Number.isSafeInteger(product) ? product + 0 : (intFrom(exactly("*", a, b)) ?? intOverflow());
  }
  if (isInt(a) && isInt(b)) return intFrom(exactly("*", a, b)) ?? intOverflow();
  if (a instanceof Double && b instanceof Double) return new Double(a.value * b.value);
  if (a instanceof Uint && b instanceof Uint) return uintFrom(exactly("*", a.value, b.value)) ?? uintOverflow();
  return noOverload("_*_", a, b);
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    return b === 0 ? new CelError("division by zero") : Math.trunc(a / b) + 0;
  }
  if (isInt(a) && isInt(b)) {
    return BigInt(b) === 0n ? new CelError("division by zero") : (intFrom(BigInt(a) / BigInt(b)) ?? intOverflow());
  }
  if (a instanceof Double && b instanceof Double) return new Double(a.value / b.value);
  if (a instanceof Uint && b instanceof Uint) {
    const divisor = BigInt(b.value);
    return divisor === 0n ? new CelError("division by zero") : new Uint(canonicalInt(BigInt(a.value) / divisor));
  }
  return noOverload("_/_", a, b);
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    return b === 0 ? new CelError("modulus by zero") : (a % b) + 0;
  }
  if (isInt(a) && isInt(b)) {
    if (BigInt(b) === 0n) return new CelError("modulus by zero");
    // The one quotient that does not fit makes the remainder fail too, as in cel-go.
    if (intFrom(BigInt(a) / BigInt(b)) === undefined) return intOverflow();
    return canonicalInt(BigInt(a) % BigInt(b));
  }
  if (a instanceof Uint && b instanceof Uint) {
    const divisor = BigInt(b.value);
    return divisor === 0n ? new CelError("modulus by zero") : new Uint(canonicalInt(BigInt(a.value) % divisor));
  }
  return noOverload("_%_", a, b);
}

function negate(a: Value): Value {
  if (typeof a === "number") return 0 - a;
  if (typeof a === "bigint") return intFrom(-a) ?? intOverflow();
  if (a instanceof Double) return new Double(-a.value);
  return noOverload("-_", a, a);
}

const concatenation = ([a = "", b = ""]: readonly Value[]): number =>
  Math.ceil((sizeOf(a) + sizeOf(b)) * prices.character);

const list = args.list(param("A"));

export const arithmeticFunctions: readonly FunctionDeclaration[] = [
  declare(
    "_+_",
    [
      global("add_bytes", [args.bytes, args.bytes], BYTES),
      global("add_double", [args.double, args.double], DOUBLE),
      global("add_duration_duration", [args.duration, args.duration], DURATION),
      global("add_duration_timestamp", [args.duration, args.timestamp], TIMESTAMP),
      global("add_timestamp_duration", [args.timestamp, args.duration], TIMESTAMP),
      global("add_int64", [args.int, args.int], INT),
      global("add_list", [list, list], listOf(param("A"))),
      global("add_string", [args.string, args.string], STRING),
      global("add_uint64", [args.uint, args.uint], UINT),
    ],
    {
      evaluate: add,
      overloadCost: (values, _result, id) =>
        id === "add_string" || id === "add_bytes" ? concatenation(values) : undefined,
    },
  ),
  declare(
    "_-_",
    [
      global("subtract_double", [args.double, args.double], DOUBLE),
      global("subtract_duration_duration", [args.duration, args.duration], DURATION),
      global("subtract_int64", [args.int, args.int], INT),
      global("subtract_timestamp_duration", [args.timestamp, args.duration], TIMESTAMP),
      global("subtract_timestamp_timestamp", [args.timestamp, args.timestamp], DURATION),
      global("subtract_uint64", [args.uint, args.uint], UINT),
    ],
    { evaluate: subtract },
  ),
  declare(
    "_*_",
    [
      global("multiply_double", [args.double, args.double], DOUBLE),
      global("multiply_int64", [args.int, args.int], INT),
      global("multiply_uint64", [args.uint, args.uint], UINT),
    ],
    { evaluate: multiply },
  ),
  declare(
    "_/_",
    [
      global("divide_double", [args.double, args.double], DOUBLE),
      global("divide_int64", [args.int, args.int], INT),
      global("divide_uint64", [args.uint, args.uint], UINT),
    ],
    { evaluate: divide },
  ),
  declare(
    "_%_",
    [global("modulo_int64", [args.int, args.int], INT), global("modulo_uint64", [args.uint, args.uint], UINT)],
    { evaluate: modulo },
  ),
  declare("-_", [global("negate_double", [args.double], DOUBLE), global("negate_int64", [args.int], INT)], {
    evaluate: negate,
  }),
];
