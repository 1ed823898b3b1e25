/** A copy of plain JSON data; several times faster than `structuredClone`, which must expect anything. */
export function copyJson<T>(value: T): T {
  // Objects of the API are trees of plain objects, lists and scalars, so the copy has the type of the original.
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const result: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) {
    // A key that an attacker chose must not reach the prototype.
    if (key === "__proto__") Object.defineProperty(result, key, { value: copy(entry), enumerable: true });
    else result[key] = copy(entry);
  }
  return result;
}
