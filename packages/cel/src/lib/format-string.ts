import { formatDouble, plainDecimal, withExponent } from "../text.ts";
import { Duration, Timestamp } from "../time.ts";
import {
  CelError,
  Double,
  TypeValue,
  Uint,
  adapt,
  isInt,
  isList,
  isMap,
  mapGet,
  mapKeys,
  typeNameOf,
  type Value,
} from "../values.ts";
import { spend } from "../work.ts";

/** How the clauses of `"…".format([…])` are written; cel-go changed its mind once, and Kubernetes keeps the older way. */
interface Style {
  text(value: Value): string | Problem;
  decimal(value: Value): string | Problem;
  fixed(value: Value, precision: number): string | Problem;
  scientific(value: Value, precision: number): string | Problem;
}

class Problem {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const cannot = {
  text: (value: Value): Problem =>
    new Problem(
      `string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeNameOf(value)}`,
    ),
  decimal: (value: Value): Problem =>
    new Problem(`decimal clause can only be used on integers, was given ${typeNameOf(value)}`),
  fixed: (value: Value): Problem =>
    new Problem(`fixed-point clause can only be used on doubles, was given ${typeNameOf(value)}`),
  scientific: (value: Value): Problem =>
    new Problem(`scientific clause can only be used on doubles, was given ${typeNameOf(value)}`),
  binary: (value: Value): Problem =>
    new Problem(`only integers and bools can be formatted as binary, was given ${typeNameOf(value)}`),
  hex: (value: Value): Problem =>
    new Problem(`only integers, byte buffers, and strings can be formatted as hex, was given ${typeNameOf(value)}`),
  octal: (value: Value): Problem =>
    new Problem(`octal clause can only be used on integers, was given ${typeNameOf(value)}`),
};

function integerOf(value: Value): number | bigint | undefined {
  if (isInt(value)) return value;
  return value instanceof Uint ? value.value : undefined;
}

function hexadecimal(value: Value): string | Problem {
  const integer = integerOf(value);
  if (integer !== undefined) return integer.toString(16);
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return cannot.hex(value);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function binary(value: Value): string | Problem {
  if (typeof value === "boolean") return value ? "1" : "0";
  return integerOf(value)?.toString(2) ?? cannot.binary(value);
}

const clauses = /%(?:%|(?:\.(\d+))?(.)?)/gsu;

/** `"%s has %d".format([…])` */
function format(template: string, values: readonly Value[], style: Style): Value {
  let next = 0;
  let failure: CelError | undefined;
  const text = template.replace(clauses, (whole, precision: string | undefined, verb: string | undefined) => {
    if (whole === "%%" || failure !== undefined) return "%";
    const value = adapt(values[next]);
    if (value === undefined) {
      failure = new CelError(`index ${next} out of range`);
      return "";
    }
    next += 1;
    const written = writeClause(style, verb ?? "", value, precision === undefined ? 6 : Number(precision));
    if (typeof written === "string") {
      spend(written.length);
      return written;
    }
    failure = new CelError(written.message);
    return "";
  });
  return failure ?? text;
}

function writeClause(style: Style, verb: string, value: Value, precision: number): string | Problem {
  const write = (): string | Problem | undefined => {
    switch (verb) {
      case "s":
        return style.text(value);
      case "d":
        return style.decimal(value);
      case "f":
        return style.fixed(value, precision);
      case "e":
        return style.scientific(value, precision);
      case "b":
        return binary(value);
      case "x":
        return hexadecimal(value);
      case "X": {
        const text = hexadecimal(value);
        return typeof text === "string" ? text.toUpperCase() : text;
      }
      case "o":
        return integerOf(value)?.toString(8) ?? cannot.octal(value);
      default:
        return undefined;
    }
  };
  if (precision > 100) return new Problem(`error while parsing precision: ${precision} is too large`);
  const written = write();
  if (written === undefined) {
    return new Problem(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
  return written instanceof Problem ? new Problem(`error during formatting: ${written.message}`) : written;
}

function exponential(value: number, precision: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential(precision).split("e");
  return withExponent(mantissa, Number(exponent));
}

/** `toFixed` rounds halves away from zero by the exact value, where Go rounds them to even: only exact halves differ. */
function fixedPoint(value: number, precision: number): string {
  const text = Math.abs(value) >= 1e21 ? plainDecimal(value) : value.toFixed(precision);
  const scaled = Math.abs(value) * 10 ** precision;
  if (scaled % 1 !== 0.5 || precision > 15 || scaled > 2 ** 52) return text;
  const whole = Math.floor(scaled);
  const even = whole % 2 === 0 ? whole : whole + 1;
  return `${value < 0 ? "-" : ""}${(even / 10 ** precision).toFixed(precision)}`;
}

// --- the older way: Kubernetes ---

function classicText(value: Value): string | Problem {
  if (isList(value)) return joined(value, (item) => classicNested(item), "[", "]");
  if (isMap(value)) return classicMap(value);
  if (value instanceof Double) return formatDouble(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  return scalarText(value);
}

/** What has the same text in both styles. */
function scalarText(value: Value): string | Problem {
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp || value instanceof Duration) return value.toString();
  if (value instanceof TypeValue) return value.name;
  return cannot.text(value);
}

function classicNested(value: Value): string | Problem {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `b${JSON.stringify(new TextDecoder().decode(value))}`;
  if (value instanceof Timestamp) return `timestamp(${JSON.stringify(value.toString())})`;
  if (value instanceof Duration) return `duration(${JSON.stringify(value.toString())})`;
  if (value instanceof Double) {
    const text = classicStyle.fixed(value, 6);
    return Number.isFinite(value.value) || typeof text !== "string" ? text : JSON.stringify(text);
  }
  return classicText(value);
}

function classicMap(value: Value): string | Problem {
  if (!isMap(value)) return cannot.text(value);
  const entries = mapKeys(value).map((key) => {
    const item = classicNested(mapGet(value, key) ?? null);
    const name = classicNested(key);
    if (item instanceof Problem) return item;
    return name instanceof Problem ? name : `${name}:${item}`;
  });
  return joined(sortTexts(entries), (entry) => entry, "{", "}");
}

function sortTexts(entries: (string | Problem)[]): (string | Problem)[] {
  const key = (entry: string | Problem): string => (typeof entry === "string" ? entry : "");
  return entries.sort((a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b))));
}

function joined<T>(
  items: readonly T[],
  write: (item: T) => string | Problem,
  open: string,
  close: string,
): string | Problem {
  const texts: string[] = [];
  for (const item of items) {
    const text = write(item);
    if (text instanceof Problem) return text;
    texts.push(text);
  }
  return open + texts.join(", ") + close;
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function classicNumber(
  value: Value,
  finite: (value: number) => string,
  problem: (value: Value) => Problem,
): string | Problem {
  const number = value instanceof Double ? value.value : specialNumber(value);
  if (number === undefined) return problem(value);
  if (Number.isNaN(number)) return "NaN";
  return Number.isFinite(number) ? finite(number) : number > 0 ? "∞" : "-∞";
}

/** The older clauses also take the names of the special doubles. */
function specialNumber(value: Value): number | undefined {
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  return value === "-Infinity" ? Number.NEGATIVE_INFINITY : undefined;
}

function grouped(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const digits = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

const classicStyle: Style = {
  text: classicText,
  decimal: (value) => integerOf(value)?.toString() ?? cannot.decimal(value),
  fixed: (value, precision) => classicNumber(value, (number) => grouped(fixedPoint(number, precision)), cannot.fixed),
  scientific: (value) =>
    classicNumber(
      value,
      (number) => {
        // The precision is taken for a width there, so there are always six digits.
        const [mantissa = "", exponent = "0"] = number.toExponential(6).split("e");
        const digits = String(Math.abs(Number(exponent))).padStart(2, "0");
        const raised = Array.from(digits, (digit) => superscripts[Number(digit)] ?? "").join("");
        return `${mantissa}×10${Number(exponent) < 0 ? "⁻" : ""}${raised}`;
      },
      cannot.scientific,
    ),
};

export function formatClassic(template: string, values: readonly Value[]): Value {
  return format(template, values, classicStyle);
}

// --- the newer way: the CEL specification ---

function modernNumber(value: Value, finite: (value: number) => string): string | undefined {
  const integer = integerOf(value);
  const number = value instanceof Double ? value.value : integer === undefined ? undefined : Number(integer);
  if (number === undefined) return undefined;
  return Number.isFinite(number) ? finite(number) : String(number);
}

function modernText(value: Value): string | Problem {
  if (isList(value)) return joined(value, (item) => modernText(adapt(item) ?? null), "[", "]");
  if (value instanceof Double) return Number.isFinite(value.value) ? plainDecimal(value.value) : String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (!isMap(value)) return scalarText(value);
  const entries = mapKeys(value).map((key) => {
    const item = modernText(mapGet(value, key) ?? null);
    const name = modernText(key);
    if (item instanceof Problem) return item;
    return name instanceof Problem ? name : `${name}: ${item}`;
  });
  return joined(sortTexts(entries), (entry) => entry, "{", "}");
}

const modernStyle: Style = {
  text: modernText,
  decimal: (value) => integerOf(value)?.toString() ?? modernNumber(value, plainDecimal) ?? cannot.decimal(value),
  fixed: (value, precision) => modernNumber(value, (number) => fixedPoint(number, precision)) ?? cannot.fixed(value),
  scientific: (value, precision) =>
    modernNumber(value, (number) => exponential(number, precision)) ?? cannot.scientific(value),
};

export function formatModern(template: string, values: readonly Value[]): Value {
  return format(template, values, modernStyle);
}
