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
  isList,
  isMap,
  isBuiltInName,
  mapGet,
  mapKeyOf,
  ownProperty,
  typeNameOf,
  type PlainObject,
  type Value,
} from "./values.ts";

/** A value with fields that are computed when they are first asked for, like the `variables` of a policy. */
export abstract class LazyObject extends CelObject {
  abstract field(name: string): Value | undefined;
}

function noSuchKey(key: Value): CelError {
  return new CelError(`no such key: ${describeKey(key)}`);
}

function describeKey(key: Value): string {
  if (key instanceof Double || key instanceof Uint) return String(key.value);
  return typeof key === "object" && key !== null ? "unsupported" : String(key);
}

/**
 * Reads fields of one name, which errors call as the expression does. Made once per selection, so that what is known about
 * the name is not worked out again.
 */
export function fieldReader(name: string, shown = name): (operand: Value) => Value {
  if (isBuiltInName(name)) return (operand) => readField(operand, name, shown);
  return (operand) => {
    // Nearly everything is a plain object. Lists and bytes have no such property, so only our own classes are told apart.
    if (typeof operand === "object" && operand !== null && !(operand instanceof CelObject)) {
      const raw = (operand as PlainObject)[name];
      if (typeof raw === "string" || typeof raw === "boolean") return raw;
      const value = adapt(raw);
      if (value !== undefined) return value;
    }
    return readField(operand, name, shown);
  };
}

/** The field's value, or an error that says why there is none. */
function readField(operand: Value, name: string, shown: string): Value {
  if (operand instanceof CelError) return operand;
  if (operand instanceof Optional) return optionalField(operand, name);
  if (Array.isArray(operand)) return new CelError("unsupported index type 'string' in list");
  const value = findField(operand, name);
  return value === undefined ? missingField(operand, shown) : value;
}

function missingField(operand: Value, name: string): CelError {
  return operand instanceof StructValue ? new CelError(`no such field '${name}'`) : noSuchKey(name);
}

/** The field's value, or undefined when there is no such field. */
function findField(operand: Value, name: string): Value | undefined {
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

/** Tests for fields of one name, like `fieldReader` reads them. */
export function fieldTester(name: string): (operand: Value) => Value {
  if (isBuiltInName(name)) return (operand) => hasField(operand, name);
  return (operand) => {
    if (typeof operand === "object" && operand !== null && !(operand instanceof CelObject) && !Array.isArray(operand)) {
      return adapt((operand as PlainObject)[name]) !== undefined;
    }
    return hasField(operand, name);
  };
}

/** `has(operand.name)` */
function hasField(operand: Value, name: string): Value {
  if (operand instanceof CelError) return operand;
  if (operand instanceof Optional) return operand.value === undefined ? false : hasField(operand.value, name);
  if (Array.isArray(operand)) return new CelError("unsupported index type 'string' in list");
  return findField(operand, name) !== undefined;
}

function listIndex(index: Value): number | CelError {
  if (isInt(index)) return Number(index);
  if (index instanceof Uint) return Number(index.value);
  if (!(index instanceof Double)) return new CelError(`unsupported index type '${typeNameOf(index)}' in list`);
  return Number.isInteger(index.value) ? index.value : new CelError(`unsupported index value ${index.value} in list`);
}

/** Lists, maps and null cannot even be looked for. */
function badIndex(index: Value): CelError | undefined {
  const name =
    index === null ? "<nil>" : isList(index) ? "[]interface {}" : isMap(index) ? "map[string]interface {}" : "";
  return name === "" ? undefined : new CelError(`invalid qualifier type: ${name}`);
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
  const problem = typeof index === "object" ? badIndex(index) : undefined;
  if (problem !== undefined) return problem;
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

/** Kubernetes says here which of its own types it met. */
function goTypeName(value: Value): string {
  const name = typeNameOf(value).replace("null_type", "null").replace("google.protobuf.", "");
  return `types.${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

export function entriesOf(range: Value, pairs: boolean): Entries | CelError {
  if (Array.isArray(range)) {
    return { length: range.length, key: (round) => round, value: (round) => adapt(range[round]) ?? null };
  }
  if (range instanceof CelError) return range;
  if (!isMap(range)) {
    const type = goTypeName(range);
    return new CelError(
      pairs ? `unsupported comprehension range type: ${type}` : `got '${type}', expected iterable type`,
    );
  }
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
