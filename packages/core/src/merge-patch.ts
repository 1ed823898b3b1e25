import { isJsonObject, jsonEqual, setOwn, type JsonObject, type JsonValue } from "./json.ts";

/** Applies a JSON merge patch (RFC 7396): objects merge, null removes, everything else replaces. Changes nothing given. */
export function applyMergePatch<T>(target: T, patch: unknown): T {
  // A merge patch may change the type; the caller knows what its patch does.
  return merge(target as JsonValue, patch as JsonValue) as T;
}

function merge(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return structuredClone(patch);
  const result: JsonObject = {};
  if (isJsonObject(target)) {
    for (const [key, value] of Object.entries(target)) {
      if (!Object.hasOwn(patch, key)) setOwn(result, key, value);
    }
  }
  const old = isJsonObject(target) ? target : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) continue;
    setOwn(result, key, merge(Object.hasOwn(old, key) ? old[key] : undefined, value));
  }
  return result;
}

/** The merge patch that turns `from` into `to`; undefined when they are equal. */
export function createMergePatch(from: unknown, to: unknown): JsonValue | undefined {
  if (!isJsonObject(from) || !isJsonObject(to)) return jsonEqual(from, to) ? undefined : (to as JsonValue);
  const patch: JsonObject = {};
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    const change = createMergePatch(Object.hasOwn(from, key) ? from[key] : undefined, value);
    if (change !== undefined) setOwn(patch, key, change);
  }
  for (const [key, value] of Object.entries(from)) {
    if (value !== undefined && (!Object.hasOwn(to, key) || to[key] === undefined)) setOwn(patch, key, null);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
