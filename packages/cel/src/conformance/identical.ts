import { CelMap, Double, Uint, isMap, mapGet, mapKeys, mapSize, typeNameOf, type Value } from "../values.ts";
import { celEquals } from "../equality.ts";

/** Same value *and* same type all the way down, which is more than CEL's `==` asks; NaN is NaN. */
export function identical(a: Value, b: Value): boolean {
  if (typeNameOf(a) !== typeNameOf(b)) return false;
  if (a instanceof Double && b instanceof Double) return Object.is(a.value, b.value) || a.value === b.value;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => identical(item, b[index] ?? null));
  }
  if (isMap(a) && isMap(b)) {
    if (mapSize(a) !== mapSize(b)) return false;
    return mapKeys(a).every((key) => {
      const [left, right] = [mapGet(a, key), mapGet(b, key)];
      const sameKey = !(key instanceof Uint) || (b instanceof CelMap && b.uintKeys?.has(key.value) === true);
      return sameKey && left !== undefined && right !== undefined && identical(left, right);
    });
  }
  return celEquals(a, b);
}
