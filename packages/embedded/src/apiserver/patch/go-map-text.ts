import { isJsonObject, textOf } from "../json.ts";

/** How Go prints a map: `map[spec:map[replicas:x]]`. */
export function goMapText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMapText).join(" ")}]`;
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${goMapText(value[key])}`).join(" ")}]`;
  }
  return value === null ? "<nil>" : textOf(value);
}
