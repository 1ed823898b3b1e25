/** Plain JSON data. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Deep equality of JSON data; order of keys does not matter, and a key without value is as good as none. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => jsonEqual(item, right[index]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  for (const key of Object.keys(left)) {
    if (!jsonEqual(left[key], Object.hasOwn(right, key) ? right[key] : undefined)) return false;
  }
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  }
  return true;
}

/** Sets a key as own data even when it is called `__proto__`, which plain assignment would take for something else. */
export function setOwn(target: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}
