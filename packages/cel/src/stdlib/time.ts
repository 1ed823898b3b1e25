import { args, declare, member, type FunctionDeclaration } from "../functions.ts";
import { clockFields, zoneOffset, type ClockFields, type Duration, type Timestamp } from "../time.ts";
import { INT } from "../types.ts";
import { CelError, canonicalInt, type Value } from "../values.ts";

type Field = (fields: ClockFields, time: Timestamp) => number;

function inZone(field: Field): (time: Timestamp, zone: string) => Value {
  return (time, zone) => {
    const offset = zoneOffset(zone, time);
    if (offset === undefined) return new CelError(`unknown time zone ${zone}`);
    return field(clockFields(time, offset), time);
  };
}

function timestampGetter(name: string, id: string, field: Field, duration?: FunctionDeclaration["overloads"][number]) {
  // One id of cel-go does not follow the pattern of the others.
  const zoned = id === "timestamp_to_seconds" ? "timestamp_to_seconds_tz" : `${id}_with_tz`;
  const overloads = [
    member(id, [args.timestamp], INT, (time) => field(clockFields(time, 0), time)),
    member(zoned, [args.timestamp, args.string], INT, inZone(field)),
  ];
  return declare(name, duration === undefined ? overloads : [...overloads, duration]);
}

const whole =
  (nanosPerUnit: bigint) =>
  (duration: Duration): Value =>
    canonicalInt(duration.nanos / nanosPerUnit);

export const timeFunctions: readonly FunctionDeclaration[] = [
  timestampGetter("getFullYear", "timestamp_to_year", ({ year }) => year),
  timestampGetter("getMonth", "timestamp_to_month", ({ month }) => month),
  timestampGetter("getDayOfYear", "timestamp_to_day_of_year", ({ dayOfYear }) => dayOfYear),
  timestampGetter("getDayOfMonth", "timestamp_to_day_of_month", ({ day }) => day - 1),
  timestampGetter("getDate", "timestamp_to_day_of_month_1_based", ({ day }) => day),
  timestampGetter("getDayOfWeek", "timestamp_to_day_of_week", ({ dayOfWeek }) => dayOfWeek),
  timestampGetter(
    "getHours",
    "timestamp_to_hours",
    ({ hours }) => hours,
    member("duration_to_hours", [args.duration], INT, whole(3_600_000_000_000n)),
  ),
  timestampGetter(
    "getMinutes",
    "timestamp_to_minutes",
    ({ minutes }) => minutes,
    member("duration_to_minutes", [args.duration], INT, whole(60_000_000_000n)),
  ),
  timestampGetter(
    "getSeconds",
    "timestamp_to_seconds",
    ({ seconds }) => seconds,
    member("duration_to_seconds", [args.duration], INT, whole(1_000_000_000n)),
  ),
  timestampGetter(
    "getMilliseconds",
    "timestamp_to_milliseconds",
    (_, time) => Math.floor(time.nanos / 1_000_000),
    member("duration_to_milliseconds", [args.duration], INT, whole(1_000_000n)),
  ),
];
