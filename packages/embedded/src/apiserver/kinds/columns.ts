import { valueAt } from "../json.ts";
import type { ApiObject, Column } from "./kind.ts";

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  value: (object) => object.metadata.name,
};

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  value: (object, now) => ageOf(object.metadata.creationTimestamp, now),
};

/** Most kinds show a name, some facts, and the age. */
export const columns = (...facts: readonly Column[]): readonly Column[] => [nameColumn, ...facts, ageColumn];

export const textColumn = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: "string",
  value: (object) => valueAt(object, ...path) ?? "<none>",
});

export const numberColumn = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: "integer",
  value: (object) => valueAt(object, ...path) ?? 0,
});

export const wide = (column: Column): Column => ({ ...column, priority: 1 });

export const computed = (name: string, value: (object: ApiObject, now: number) => unknown): Column => ({
  name,
  type: "string",
  value,
});

export function ageOf(timestamp: unknown, now: number): string {
  const then = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(then) ? "<unknown>" : humanDuration(now - then);
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A duration in the two most telling units, as kubectl prints ages: 45s, 3m20s, 2h5m, 3d4h, 12d, 2y30d. */
function humanDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const both = (large: number, largeUnit: string, small: number, smallUnit: string): string => {
    const rest = Math.floor((seconds % large) / small);
    return `${Math.floor(seconds / large)}${largeUnit}${rest === 0 ? "" : `${rest}${smallUnit}`}`;
  };
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return both(minute, "m", 1, "s");
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return both(hour, "h", minute, "m");
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return both(day, "d", hour, "h");
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return both(year, "y", day, "d");
  return `${Math.floor(seconds / year)}y`;
}

/** `app=web,tier in (a,b)`, or `<none>`. */
export function selectorText(selector: unknown): string {
  const labels = Object.entries((valueAt(selector, "matchLabels") ?? {}) as Record<string, string>);
  const expressions = (valueAt(selector, "matchExpressions") ?? []) as {
    key: string;
    operator: string;
    values?: string[];
  }[];
  const parts = [
    ...labels.map(([key, value]) => `${key}=${value}`),
    ...expressions.map(({ key, operator, values = [] }) =>
      operator === "Exists"
        ? key
        : operator === "DoesNotExist"
          ? `!${key}`
          : `${key} ${operator.toLowerCase()} (${values.join(",")})`,
    ),
  ];
  return parts.length === 0 ? "<none>" : parts.sort().join(",");
}

export function labelsText(labels: unknown): string {
  const entries = Object.entries((labels ?? {}) as Record<string, string>);
  return entries.length === 0
    ? "<none>"
    : entries
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join(",");
}
