import { CelObject, type Value } from "./values.ts";

const billion = 1_000_000_000n;
const maxNanos = 2n ** 63n - 1n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const minSeconds = -62_135_596_800;
const maxSeconds = 253_402_300_799;

/** A point in time with nanoseconds, between the years 1 and 9999. */
export class Timestamp extends CelObject {
  readonly seconds: number;
  readonly nanos: number;

  private constructor(seconds: number, nanos: number) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
  }

  get typeName(): string {
    return "google.protobuf.Timestamp";
  }

  static of(seconds: number, nanos: number): Timestamp | undefined {
    return seconds < minSeconds || seconds > maxSeconds ? undefined : new Timestamp(seconds, nanos);
  }

  static fromNanos(total: bigint): Timestamp | undefined {
    let seconds = total / billion;
    if (total % billion < 0n) seconds -= 1n;
    return Timestamp.of(Number(seconds), Number(total - seconds * billion));
  }

  get totalNanos(): bigint {
    return BigInt(this.seconds) * billion + BigInt(this.nanos);
  }

  override equals(other: Value): boolean {
    return other instanceof Timestamp && other.seconds === this.seconds && other.nanos === this.nanos;
  }

  override toString(): string {
    const date = new Date(this.seconds * 1000);
    const fraction = this.nanos === 0 ? "" : `.${String(this.nanos).padStart(9, "0").replace(/0+$/, "")}`;
    return `${date.toISOString().slice(0, 19)}${fraction}Z`;
  }

  override toJson(): unknown {
    return this.toString();
  }
}

/** A length of time in nanoseconds that fits 64 bits: about 292 years. */
export class Duration extends CelObject {
  readonly nanos: bigint;

  private constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  get typeName(): string {
    return "google.protobuf.Duration";
  }

  static of(nanos: bigint): Duration | undefined {
    return nanos > maxNanos || nanos < -maxNanos - 1n ? undefined : new Duration(nanos);
  }

  override equals(other: Value): boolean {
    return other instanceof Duration && other.nanos === this.nanos;
  }

  override toString(): string {
    const sign = this.nanos < 0n ? "-" : "";
    const magnitude = this.nanos < 0n ? -this.nanos : this.nanos;
    const fraction = String(magnitude % billion)
      .padStart(9, "0")
      .replace(/0+$/, "");
    return `${sign}${magnitude / billion}${fraction === "" ? "" : `.${fraction}`}s`;
  }

  override toJson(): unknown {
    return this.toString();
  }
}

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,}))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** An RFC 3339 time, or undefined. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || part(9) > 23 || part(10) > 59) return undefined;
  const offset = (part(9) * 60 + part(10)) * 60 * (match[8] === "-" ? -1 : 1);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return Timestamp.of(date.getTime() / 1000 - offset, Number((match[7] ?? "").slice(0, 9).padEnd(9, "0")));
}

function daysInMonth(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: billion,
  m: 60n * billion,
  h: 3_600n * billion,
};
// Escaped: one letter that is not Latin makes V8 keep a whole bundle with two bytes for each letter.
const durationPart = /(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** A duration as Go writes it, like `1h30m` or `-1.5s`; undefined when it is none or too long. */
export function parseDuration(text: string): Duration | undefined {
  const sign = /^[+-]/.exec(text)?.[0] ?? "";
  const body = text.slice(sign.length);
  if (body === "0") return Duration.of(0n);
  if (body === "" || text.length > 200) return undefined;
  let total = 0n;
  durationPart.lastIndex = 0;
  while (durationPart.lastIndex < body.length) {
    const match = durationPart.exec(body);
    if (match === null) return undefined;
    const [whole = "", fraction = ""] = (match[1] ?? "").split(".");
    const unit = unitNanos[match[2] ?? ""] ?? 0n;
    total += BigInt(whole === "" ? "0" : whole) * unit;
    if (fraction !== "") total += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
  }
  return Duration.of(sign === "-" ? -total : total);
}

/** The clock face of a time in a zone. Months and days of the year count from 0, Sunday is 0. */
export interface ClockFields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly dayOfWeek: number;
  readonly dayOfYear: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

export function clockFields(time: Timestamp, offsetSeconds: number): ClockFields {
  const date = new Date((time.seconds + offsetSeconds) * 1000);
  const newYear = new Date(0);
  newYear.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    dayOfWeek: date.getUTCDay(),
    dayOfYear: Math.floor((date.getTime() - newYear.getTime()) / 86_400_000),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
  };
}

const fixedOffset = /^([+-]?)(\d{1,2}):(\d{2})$/;

/** How far the zone's clock is ahead of UTC at that time, in seconds; undefined for an unknown zone. */
export function zoneOffset(zone: string, time: Timestamp): number | undefined {
  if (zone === "UTC" || zone === "" || zone === "Z") return 0;
  const fixed = fixedOffset.exec(zone);
  if (fixed !== null) {
    const seconds = (Number(fixed[2]) * 60 + Number(fixed[3])) * 60;
    return fixed[1] === "-" ? -seconds : seconds;
  }
  const formatter = zoneFormatter(zone);
  if (formatter === undefined) return undefined;
  const parts = new Map(formatter.formatToParts(new Date(time.seconds * 1000)).map(({ type, value }) => [type, value]));
  const read = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name) ?? 0);
  const local = new Date(0);
  const year = parts.get("era") === "BC" ? 1 - read("year") : read("year");
  local.setUTCFullYear(year, read("month") - 1, read("day"));
  local.setUTCHours(read("hour") % 24, read("minute"), read("second"));
  return local.getTime() / 1000 - time.seconds;
}

const formatters = new Map<string, Intl.DateTimeFormat | undefined>();
/** More zones than exist; the names come from expressions, so the cache needs an end. */
const maxFormatters = 1000;

function zoneFormatter(zone: string): Intl.DateTimeFormat | undefined {
  if (formatters.has(zone)) return formatters.get(zone);
  let formatter: Intl.DateTimeFormat | undefined;
  try {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (error) {
    // That is how Intl says "no such zone".
    if (!(error instanceof RangeError)) throw error;
  }
  if (formatters.size < maxFormatters) formatters.set(zone, formatter);
  return formatter;
}
