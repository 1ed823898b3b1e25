import { CelMap, CelObject, Optional, isMap, mapSize, type Value } from "./values.ts";

/**
 * Prices of Kubernetes' CEL. Strings are counted in UTF-16 units, which for characters beyond the basic plane is more than
 * Kubernetes counts, never less.
 */
export const prices = {
  selectOrIdent: 1,
  list: 10,
  map: 30,
  struct: 40,
  /** Per character of a string that is walked once. */
  character: 0.1,
  /** Per character of a regular expression, for each unit of string that it is run over. */
  patternCharacter: 0.25,
} as const;

/** How large a value is for the purposes of cost: characters, bytes, elements or entries; 1 for everything else. */
export function sizeOf(value: Value): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.length;
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOf(value.value);
  if (value instanceof CelMap) return value.entries.size;
  if (value instanceof CelObject) return value.size ?? 1;
  return isMap(value) ? mapSize(value) : 1;
}

export function traverse(value: Value | undefined, factor: number = prices.character): number {
  return value === undefined ? 0 : Math.ceil(sizeOf(value) * factor);
}

/** Running a pattern over a string; one is added to the string so that an empty one is not free. */
export function matching(text: Value | undefined, pattern: Value | undefined): number {
  if (text === undefined || pattern === undefined) return 1;
  return Math.ceil((1 + sizeOf(text)) * prices.character) * Math.ceil(sizeOf(pattern) * prices.patternCharacter);
}

/** Walking a value as a tree down to its scalars. */
export function traverseDeeply(value: Value): number {
  if (typeof value === "string" || value instanceof Uint8Array) return Math.floor(value.length * prices.character);
  if (Array.isArray(value)) return value.reduce((total: number, item: Value) => total + traverseDeeply(item), 0);
  if (value instanceof CelMap) {
    return [...value.entries].reduce((total, [key, item]) => total + traverseDeeply(key) + traverseDeeply(item), 0);
  }
  if (!isMap(value)) return 1;
  return Object.entries(value).reduce((total, [key, item]) => total + traverseDeeply(key) + traverseDeeply(item), 0);
}
