import { errors } from "./errors.ts";

const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const MAX_NANOSECONDS = (1n << 63n) - 1n;
// Escaped: one letter that is not Latin makes V8 keep a whole bundle with two bytes for each letter.
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/gy;

/** Reads Go's syntax (`1h15m30.5s`, `-300ms`, `0`) exactly. */
export function parseDurationNanoseconds(text: string): bigint {
  const fail = () =>
    errors.DurationInvalid(`read duration "${text}": expected numbers with units, such as "1h15m" or "300ms"`, {
      fields: { text },
    });
  const negative = text.startsWith("-");
  const body = negative || text.startsWith("+") ? text.slice(1) : text;
  if (body === "0") return 0n;
  let total = 0n;
  let at = 0;
  for (const [whole, number = "", unit = ""] of body.matchAll(PART)) {
    const [integer = "", fraction = ""] = number.split(".");
    // PART only matches units of the table.
    const size = unitNanoseconds[unit] as bigint;
    total += BigInt(integer === "" ? "0" : integer) * size;
    if (fraction !== "") total += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
    at += whole.length;
  }
  if (at === 0 || at !== body.length || total > MAX_NANOSECONDS) throw fail();
  return negative ? -total : total;
}

/** As milliseconds, for timers; fractions are kept. */
export function parseDuration(text: string): number {
  return Number(parseDurationNanoseconds(text)) / 1e6;
}

/** Writes it as Go does: `1h15m30.5s`, `300ms`, `1.5µs`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const value = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (value < 1_000n) return `${sign}${value}ns`;
  if (value < 1_000_000n) return `${sign}${decimal(value, 1_000n)}µs`;
  if (value < 1_000_000_000n) return `${sign}${decimal(value, 1_000_000n)}ms`;
  const hours = value / 3_600_000_000_000n;
  const minutes = (value / 60_000_000_000n) % 60n;
  const seconds = decimal(value % 60_000_000_000n, 1_000_000_000n);
  return `${sign}${hours > 0n ? `${hours}h` : ""}${hours > 0n || minutes > 0n ? `${minutes}m` : ""}${seconds}s`;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}
