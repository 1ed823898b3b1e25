import { errors } from "./errors.ts";

/** How the text was written; the canonical form keeps it. */
type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

/** A Kubernetes quantity, exact down to a billionth: 128Mi, 500m, 1e3. */
export interface Quantity {
  /** The value in billionths (nano). */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

const NANO = 1_000_000_000n;

const binarySuffixes: readonly (readonly [string, bigint])[] = [
  ["Ei", 1n << 60n],
  ["Pi", 1n << 50n],
  ["Ti", 1n << 40n],
  ["Gi", 1n << 30n],
  ["Mi", 1n << 20n],
  ["Ki", 1n << 10n],
];

/** Suffix and power of ten. */
const decimalSuffixes: readonly (readonly [string, number])[] = [
  ["E", 18],
  ["P", 15],
  ["T", 12],
  ["G", 9],
  ["M", 6],
  ["k", 3],
  ["", 0],
  ["m", -3],
  ["u", -6],
  ["n", -9],
];

/** Kubernetes caps values at 2^63-1 of the whole unit. */
const MAX_NANO = ((1n << 63n) - 1n) * NANO;
const TEXT = /^([+-]?)(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
/** More digits than this cannot be meant and would only cost time. */
const MAX_TEXT = 256;
const MAX_EXPONENT = 400;

export function parseQuantity(text: string): Quantity {
  const match = text.length > MAX_TEXT ? null : TEXT.exec(text);
  if (match === null) throw invalid(text);
  const [, sign = "", number = "", suffix = ""] = match;
  const { format, numerator, exponent } = scaleOf(text, suffix);
  const [integer = "", fraction = ""] = number.split(".");
  const digits = BigInt(`${integer}${fraction}` === "" ? "0" : `${integer}${fraction}`) * numerator;
  // Everything counts in billionths, so nine places are added to the exponent.
  const power = exponent - fraction.length + 9;
  let nano = power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, 10n ** BigInt(-power));
  if (nano > MAX_NANO) nano = MAX_NANO;
  return { nano: sign === "-" ? -nano : nano, format };
}

export function isQuantity(text: string): boolean {
  return text.length <= MAX_TEXT && TEXT.test(text) && exponentIsSane(text);
}

function exponentIsSane(text: string): boolean {
  const exponent = /[eE]([+-]?\d+)$/.exec(text)?.[1];
  return exponent === undefined || Math.abs(Number(exponent)) <= MAX_EXPONENT;
}

function scaleOf(text: string, suffix: string): { format: QuantityFormat; numerator: bigint; exponent: number } {
  const binary = binarySuffixes.find(([name]) => name === suffix);
  if (binary !== undefined) return { format: "BinarySI", numerator: binary[1], exponent: 0 };
  const decimal = decimalSuffixes.find(([name]) => name === suffix);
  if (decimal !== undefined) return { format: "DecimalSI", numerator: 1n, exponent: decimal[1] };
  const exponent = Number(suffix.slice(1));
  if (Math.abs(exponent) > MAX_EXPONENT) throw invalid(text);
  return { format: "DecimalExponent", numerator: 1n, exponent };
}

function invalid(text: string): Error {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return errors.QuantityInvalid(
    `read quantity "${shown}": expected a number with an optional suffix, such as "500m", "2", "128Mi" or "1e3"`,
    { fields: { text: shown } },
  );
}

/** Rounds away from zero, so that a tiny request never becomes none. */
function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

export function quantityOf(value: bigint | number, format: QuantityFormat = "DecimalSI"): Quantity {
  return { nano: BigInt(value) * NANO, format };
}

/** Bytes as a binary quantity: `quantityOfBytes(134217728n)` prints as 128Mi. */
export function quantityOfBytes(bytes: bigint | number): Quantity {
  return quantityOf(bytes, "BinarySI");
}

export function compareQuantities(left: Quantity, right: Quantity): -1 | 0 | 1 {
  return left.nano === right.nano ? 0 : left.nano < right.nano ? -1 : 1;
}

/** The sum keeps the format of the first, unless that is zero. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  return { nano: left.nano + right.nano, format: left.nano === 0n ? right.format : left.format };
}

export function subtractQuantities(left: Quantity, right: Quantity): Quantity {
  return { nano: left.nano - right.nano, format: left.nano === 0n ? right.format : left.format };
}

/** The whole value, rounded up: bytes of a memory quantity, cores of a CPU quantity. */
export function quantityToInteger(quantity: Quantity): bigint {
  return quantity.nano >= 0n ? divideUp(quantity.nano, NANO) : -divideUp(-quantity.nano, NANO);
}

/** Thousandths, rounded up: millicores of a CPU quantity. */
export function quantityToMilli(quantity: Quantity): bigint {
  const size = NANO / 1000n;
  return quantity.nano >= 0n ? divideUp(quantity.nano, size) : -divideUp(-quantity.nano, size);
}

/**
 * The canonical form: no fraction, the largest suffix that keeps it whole. Binary quantities below 1Ki or with a
 * fraction are written as decimal ones.
 */
export function formatQuantity(quantity: Quantity): string {
  const { nano } = quantity;
  if (nano === 0n) return "0";
  const sign = nano < 0n ? "-" : "";
  const value = nano < 0n ? -nano : nano;
  const whole = value / NANO;
  if (quantity.format === "BinarySI" && value % NANO === 0n && whole >= 1024n) {
    const [suffix, size] = binarySuffixes.find(([, unit]) => whole % unit === 0n) ?? ["", 1n];
    return `${sign}${whole / size}${suffix}`;
  }
  const exponential = quantity.format === "DecimalExponent";
  for (const [suffix, exponent] of decimalSuffixes) {
    const size = 10n ** BigInt(exponent + 9);
    if (value % size !== 0n) continue;
    const ending = exponential && exponent !== 0 ? `e${exponent}` : suffix;
    return `${sign}${value / size}${ending}`;
  }
  return `${sign}${value}n`;
}
