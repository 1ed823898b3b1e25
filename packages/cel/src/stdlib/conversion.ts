import { prices, traverse } from "../cost-rules.ts";
import { args, declare, global, type FunctionDeclaration } from "../functions.ts";
import { formatDouble } from "../text.ts";
import { Timestamp, parseDuration, parseTimestamp } from "../time.ts";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, param, typeOf } from "../types.ts";
import { CelError, Double, TypeValue, intFrom, typeNameOf, uintFrom, type Value } from "../values.ts";

const overflow = (): CelError => new CelError("integer overflow");
const unsignedOverflow = (): CelError => new CelError("unsigned integer overflow");

function intFromDouble(value: number): Value {
  // 2^63 itself is out of range, and so is -2^63: doubles there may stand for values beyond.
  if (Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63) return overflow();
  return intFrom(BigInt(Math.trunc(value))) ?? overflow();
}

function uintFromDouble(value: number): Value {
  if (Number.isNaN(value) || value < 0 || value >= 2 ** 64) return unsignedOverflow();
  return uintFrom(BigInt(Math.trunc(value))) ?? unsignedOverflow();
}

function parseInteger(text: string): bigint | undefined {
  return /^[+-]?\d{1,40}$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
}

function conversionError(to: string): CelError {
  return new CelError(`type conversion error from 'string' to '${to}'`);
}

function intFromString(text: string): Value {
  const parsed = parseInteger(text);
  return (parsed === undefined ? undefined : intFrom(parsed)) ?? conversionError("int");
}

function uintFromString(text: string): Value {
  const parsed = text.startsWith("-") || text.startsWith("+") ? undefined : parseInteger(text);
  return (parsed === undefined ? undefined : uintFrom(parsed)) ?? conversionError("uint");
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const infinity = /^([+-]?)inf(?:inity)?$/i;

function doubleFromString(text: string): Value {
  if (decimal.test(text)) {
    const value = Number(text);
    if (Number.isFinite(value)) return new Double(value);
    return conversionError("double");
  }
  const infinite = infinity.exec(text);
  if (infinite !== null) return new Double(infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  if (/^nan$/i.test(text)) return new Double(Number.NaN);
  return conversionError("double");
}

const truths: Readonly<Record<string, boolean>> = {
  "1": true,
  t: true,
  T: true,
  TRUE: true,
  true: true,
  True: true,
  "0": false,
  f: false,
  F: false,
  FALSE: false,
  false: false,
  False: false,
};

function boolFromString(text: string): Value {
  const value = Object.hasOwn(truths, text) ? truths[text] : undefined;
  return value ?? conversionError("bool");
}

function stringFromBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

const nanosPerSecond = 1_000_000_000n;

const same = (value: Value): Value => value;
const walk = ([value]: readonly Value[]): number => traverse(value, prices.character);

export const conversionFunctions: readonly FunctionDeclaration[] = [
  declare("type", [
    global("type", [args.any(param("A"))], typeOf(param("A")), (value) => new TypeValue(typeNameOf(value))),
  ]),
  declare("dyn", [global("to_dyn", [args.any(param("A"))], DYN, same)]),
  declare("bool", [
    global("bool_to_bool", [args.bool], BOOL, same),
    global("string_to_bool", [args.string], BOOL, boolFromString),
  ]),
  declare(
    "bytes",
    [
      global("bytes_to_bytes", [args.bytes], BYTES, same),
      global("string_to_bytes", [args.string], BYTES, (text) => new TextEncoder().encode(text)),
    ],
    { overloadCost: (values, _result, id) => (id === "string_to_bytes" ? walk(values) : undefined) },
  ),
  declare("double", [
    global("double_to_double", [args.double], DOUBLE, same),
    global("int64_to_double", [args.int], DOUBLE, (value) => new Double(Number(value))),
    global("string_to_double", [args.string], DOUBLE, doubleFromString),
    global("uint64_to_double", [args.uint], DOUBLE, (value) => new Double(Number(value.value))),
  ]),
  declare("duration", [
    global("duration_to_duration", [args.duration], DURATION, same),
    // Declared in cel-go, but its ints refuse the conversion.
    global(
      "int64_to_duration",
      [args.int],
      DURATION,
      () => new CelError("type conversion error from 'int' to 'google.protobuf.Duration'"),
    ),
    global(
      "string_to_duration",
      [args.string],
      DURATION,
      (text) => parseDuration(text) ?? conversionError("google.protobuf.Duration"),
    ),
  ]),
  declare("int", [
    global("int64_to_int64", [args.int], INT, same),
    global("double_to_int64", [args.double], INT, ({ value }) => intFromDouble(value)),
    global("duration_to_int64", [args.duration], INT, ({ nanos }) => intFrom(nanos) ?? overflow()),
    global("string_to_int64", [args.string], INT, intFromString),
    global("timestamp_to_int64", [args.timestamp], INT, ({ seconds }) => seconds),
    global("uint64_to_int64", [args.uint], INT, ({ value }) => intFrom(BigInt(value)) ?? overflow()),
  ]),
  declare(
    "string",
    [
      global("string_to_string", [args.string], STRING, same),
      global("bool_to_string", [args.bool], STRING, String),
      global("bytes_to_string", [args.bytes], STRING, stringFromBytes),
      global("double_to_string", [args.double], STRING, ({ value }) => formatDouble(value)),
      global("duration_to_string", [args.duration], STRING, String),
      global("int64_to_string", [args.int], STRING, String),
      global("timestamp_to_string", [args.timestamp], STRING, String),
      global("uint64_to_string", [args.uint], STRING, ({ value }) => String(value)),
    ],
    { overloadCost: (values, _result, id) => (id === "bytes_to_string" ? walk(values) : undefined) },
  ),
  declare("timestamp", [
    global("timestamp_to_timestamp", [args.timestamp], TIMESTAMP, same),
    global(
      "int64_to_timestamp",
      [args.int],
      TIMESTAMP,
      (seconds) => Timestamp.fromNanos(BigInt(seconds) * nanosPerSecond) ?? new CelError("timestamp overflow"),
    ),
    global(
      "string_to_timestamp",
      [args.string],
      TIMESTAMP,
      (text) => parseTimestamp(text) ?? conversionError("google.protobuf.Timestamp"),
    ),
  ]),
  declare("uint", [
    global("uint64_to_uint64", [args.uint], UINT, same),
    global("double_to_uint64", [args.double], UINT, ({ value }) => uintFromDouble(value)),
    global("int64_to_uint64", [args.int], UINT, (value) => uintFrom(BigInt(value)) ?? unsignedOverflow()),
    global("string_to_uint64", [args.string], UINT, uintFromString),
  ]),
];
