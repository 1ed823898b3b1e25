import { spend } from "./work.ts";
import {
  CelError,
  CelMap,
  CelObject,
  Double,
  Optional,
  StructValue,
  Uint,
  adapt,
  isInt,
  isMap,
  isPrototypeName,
  mapGet,
  mapKeyOf,
  ownProperty,
  type PlainObject,
  type Value,
} from "./values.ts";

/** A value with fields that are computed when they are first asked for, like the `variables` of a policy. */
export abstract class LazyObject extends CelObject {
  abstract field(name: string): Value | undefined;
}

export function noSuchKey(key: Value): CelError {
  return new CelError(`no such key: ${describeKey(key)}`);
}

function describeKey(key: Value): string {
  if (key instanceof Double || key instanceof Uint) return String(key.value);
  return typeof key === "object" && key !== null ? "unsupported" : String(key);
}

/** Reads fields of one name. Made once per selection, so that what is known about the name is not worked out again. */
export function fieldReader(name: string): (operand: Value) => Value {
  const risky = isPrototypeName(name);
  return (operand) => {
    // Plain objects come first: nearly everything is one.
    if (typeof operand === "object" && operand !== null && Object.getPrototypeOf(operand) === Object.prototype) {
      if (risky && !Object.hasOwn(operand, name)) return noSuchKey(name);
      // The prototype is known to be the plain one, so the object is JSON data.
      const raw = (operand as PlainObject)[name];
      if (typeof raw === "string" || typeof raw === "boolean") return raw;
      const value = adapt(raw);
      return value === undefined ? noSuchKey(name) : value;
    }
    return readField(operand, name);
  };
}

/** The field's value, or an error that says why there is none. */
function readField(operand: Value, name: string): Value {
  if (operand instanceof CelError) return operand;
  if (operand instanceof Optional) return optionalField(operand, name);
  if (Array.isArray(operand)) return new CelError("unsupported index type 'string' in list");
  const value = findField(operand, name);
  return value === undefined ? missingField(operand, name) : value;
}

function missingField(operand: Value, name: string): CelError {
  return operand instanceof StructValue ? new CelError(`no such field '${name}'`) : noSuchKey(name);
}

/** The field's value, or undefined when there is no such field. */
export function findField(operand: Value, name: string): Value | undefined {
  if (typeof operand !== "object" || operand === null) return undefined;
  if (operand instanceof StructValue) return operand.fields.get(name);
  if (operand instanceof LazyObject) return operand.field(name);
  if (isMap(operand)) return operand instanceof CelMap ? mapGet(operand, name) : ownProperty(operand, name);
  return undefined;
}

/** `operand.?name`, and `operand.name` of an optional. Like in Kubernetes, a scalar simply has no fields. */
export function optionalField(operand: Value, name: string): Value {
  if (operand instanceof CelError) return operand;
  const container = operand instanceof Optional ? operand.value : operand;
  if (container === undefined) return Optional.none;
  if (Array.isArray(container)) return new CelError("unsupported index type 'string' in list");
  const value = findField(container, name);
  return value === undefined ? Optional.none : new Optional(value);
}

/** `has(operand.name)` */
export function hasField(operand: Value, name: string): Value {
  if (operand instanceof CelError) return operand;
  if (operand instanceof Optional) return operand.value === undefined ? false : hasField(operand.value, name);
  if (Array.isArray(operand)) return new CelError("unsupported index type 'string' in list");
  return findField(operand, name) !== undefined;
}

function listIndex(index: Value): number | CelError {
  if (isInt(index)) return Number(index);
  if (index instanceof Uint) return Number(index.value);
  if (index instanceof Double && Number.isInteger(index.value)) return index.value;
  return new CelError(`unsupported index type '${index instanceof Double ? "double" : typeof index}' in list`);
}

/** The element, undefined when there is none, or an error when the operand has no elements. */
function findElement(operand: Value, index: Value): Value | undefined {
  if (Array.isArray(operand)) {
    const position = listIndex(index);
    return typeof position === "number" ? adapt(operand[position]) : position;
  }
  if (isMap(operand)) {
    // A value that no map can have as key is as good as absent.
    return operand instanceof CelMap && mapKeyOf(index) === undefined ? undefined : mapGet(operand, index);
  }
  return typeof index === "string" ? findField(operand, index) : undefined;
}

/** `operand[index]` */
export function readElement(operand: Value, index: Value): Value {
  if (operand instanceof CelError) return operand;
  if (index instanceof CelError) return index;
  if (operand instanceof Optional) return optionalElement(operand, index);
  const found = findElement(operand, index);
  if (found !== undefined) return found;
  return Array.isArray(operand) ? new CelError(`index out of bounds: ${describeKey(index)}`) : noSuchKey(index);
}

/** `operand[?index]`, and `operand[index]` of an optional. */
export function optionalElement(operand: Value, index: Value): Value {
  if (operand instanceof CelError) return operand;
  if (index instanceof CelError) return index;
  const container = operand instanceof Optional ? operand.value : operand;
  if (container === undefined) return Optional.none;
  const found = findElement(container, index);
  if (found instanceof CelError) return found;
  return found === undefined ? Optional.none : new Optional(found);
}

/** What a macro goes over: one entry per round. */
export interface Entries {
  readonly length: number;
  /** Index of a list, key of a map. */
  key(round: number): Value;
  value(round: number): Value;
}

export function entriesOf(range: Value): Entries | CelError {
  if (Array.isArray(range)) {
    return { length: range.length, key: (round) => round, value: (round) => adapt(range[round]) ?? null };
  }
  if (range instanceof CelError) return range;
  if (!isMap(range)) return new CelError("got a value that is no list or map, expected iterable type");
  const map = range;
  if (map instanceof CelMap) {
    const keys = [...map.entries.keys()];
    spend(keys.length);
    return {
      length: keys.length,
      key: (round) => map.keyValue(keys[round] ?? ""),
      value: (round) => adapt(map.entries.get(keys[round] ?? "")) ?? null,
    };
  }
  const keys = Object.keys(map);
  spend(keys.length);
  return {
    length: keys.length,
    key: (round) => keys[round] ?? "",
    value: (round) => ownProperty(map, keys[round] ?? "") ?? null,
  };
}
