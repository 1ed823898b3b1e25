import { spend } from "./work.ts";
import {
  CelMap,
  CelObject,
  Double,
  Optional,
  StructValue,
  Uint,
  adapt,
  mapGet,
  mapKeys,
  mapSize,
  type PlainObject,
  type Value,
} from "./values.ts";

/** The number behind an int, uint or double. */
export function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (value instanceof Double || value instanceof Uint) return value.value;
  return undefined;
}

/**
 * Orders two numbers of any types: negative, zero, positive; undefined when one is NaN. Against a double, an int is first
 * rounded to one, as in cel-go, so that 2^63 - 1 equals 2^63 as a double.
 */
export function compareNumbers(a: number | bigint, b: number | bigint): number | undefined {
  const mixed = typeof a !== typeof b && !(Number.isSafeInteger(a) || Number.isSafeInteger(b));
  const left = mixed ? Number(a) : a;
  const right = mixed ? Number(b) : b;
  if (left < right) return -1;
  if (left > right) return 1;
  return Number.isNaN(left) || Number.isNaN(right) ? undefined : 0;
}

/** CEL's `==`: numbers by value across types, lists and maps by content, values of different types never equal. */
export function celEquals(a: Value, b: Value): boolean {
  if (typeof a !== "object" || a === null) {
    if (a === b) return true;
    if (typeof a !== "number" && typeof a !== "bigint") return false;
    const right = numberOf(b);
    return right !== undefined && compareNumbers(a, right) === 0;
  }
  if (a instanceof Double || a instanceof Uint) {
    const right = numberOf(b);
    return right !== undefined && compareNumbers(a.value, right) === 0;
  }
  if (typeof b !== "object" || b === null) return false;
  if (a instanceof SchemaList) return Array.isArray(b) && a.equalsList(b);
  if (b instanceof SchemaList) return Array.isArray(a) && b.equalsList(a);
  if (Array.isArray(a)) return Array.isArray(b) && listEquals(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && bytesEqual(a, b);
  if (a instanceof CelObject && !(a instanceof CelMap)) return objectEquals(a, b);
  if (Array.isArray(b) || b instanceof Uint8Array || (b instanceof CelObject && !(b instanceof CelMap))) return false;
  // What is left of a plain JSON object or a map on both sides.
  return mapEquals(a as CelMap | PlainObject, b as CelMap | PlainObject);
}

function objectEquals(a: CelObject, b: Value): boolean {
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return celEquals(a.value, b.value);
  }
  if (a instanceof StructValue) {
    if (!(b instanceof StructValue) || a.typeName !== b.typeName || a.fields.size !== b.fields.size) return false;
    for (const [name, value] of a.fields) {
      const other = b.fields.get(name);
      if (other === undefined || !celEquals(value, other)) return false;
    }
    return true;
  }
  return a.equals(b);
}

function listEquals(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false;
  spend(a.length);
  for (let index = 0; index < a.length; index += 1) {
    if (!celEquals(adapt(a[index]) ?? null, adapt(b[index]) ?? null)) return false;
  }
  return true;
}

function mapEquals(a: CelMap | PlainObject, b: CelMap | PlainObject): boolean {
  if (mapSize(a) !== mapSize(b)) return false;
  for (const key of mapKeys(a)) {
    const left = mapGet(a, key);
    const right = mapGet(b, key);
    if (left === undefined || right === undefined || !celEquals(left, right)) return false;
  }
  return true;
}

function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/**
 * A list whose schema calls it a set or a map (`x-kubernetes-list-type`): its order does not count in `==`, and `+` merges.
 * It is an array, so that everything else treats it as one.
 */
export class SchemaList extends Array<Value> {
  /** The properties that identify an element; undefined for a set. */
  mapKeys: readonly string[] | undefined;

  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  static of_(items: readonly Value[], keys: readonly string[] | undefined): SchemaList {
    const list = new SchemaList();
    for (const item of items) list.push(item);
    list.mapKeys = keys;
    return list;
  }

  equalsList(other: readonly Value[]): boolean {
    if (this.length !== other.length) return false;
    spend(this.length * this.length);
    const rest = [...other];
    for (const item of this) {
      const index = rest.findIndex((candidate) => celEquals(adapt(item) ?? null, adapt(candidate) ?? null));
      if (index === -1) return false;
      rest.splice(index, 1);
    }
    return true;
  }

  /** This list with the other's elements: those with the same identity replaced in place, the rest appended. */
  merge(other: readonly Value[]): SchemaList {
    spend((this.length + other.length) * (this.length + other.length));
    const merged: Value[] = [...this];
    for (const item of other) {
      const index = merged.findIndex((candidate) => this.#sameIdentity(candidate, item));
      if (index === -1) merged.push(item);
      else merged[index] = item;
    }
    return SchemaList.of_(merged, this.mapKeys);
  }

  #sameIdentity(a: Value, b: Value): boolean {
    if (this.mapKeys === undefined) return celEquals(adapt(a) ?? null, adapt(b) ?? null);
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    return this.mapKeys.every((key) => {
      const left = mapGet(a as PlainObject, key);
      const right = mapGet(b as PlainObject, key);
      return left !== undefined && right !== undefined && celEquals(left, right);
    });
  }
}
