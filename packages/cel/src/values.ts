import type { Range } from "./source.ts";
import { spend } from "./work.ts";

/**
 * Values while an expression runs. JSON data is used as it is, without conversion: that decides the speed.
 *
 * - An int is a JavaScript number while it is a safe integer and a bigint beyond (never a bigint inside the safe range,
 *   so that `===` compares ints). Measured against bigint for all ints and against a wrapper class: 2× faster on JSON input.
 * - A double is a `Double`, because 1.0 and 1 are different types in CEL. Plain numbers with a fraction occur only inside
 *   JSON data; `adapt` turns them into doubles when they are read.
 * - A map is a `CelMap` or a plain object, whose own enumerable properties are the entries and nothing else.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array | readonly Value[] | PlainObject | CelObject;

export interface PlainObject {
  readonly [key: string]: Value;
}

/** Base of all values that are not JSON. */
export abstract class CelObject {
  /** What `type(x)` shows. */
  abstract readonly typeName: string;

  /** How large it is for the purposes of cost; undefined for scalars. */
  get size(): number | undefined {
    return undefined;
  }

  equals(other: Value): boolean {
    return this === other;
  }

  /** The value that JSON output shows in place of this one; undefined when it has none. */
  toJson(): unknown {
    return undefined;
  }
}

export class Double extends CelObject {
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }

  get typeName(): string {
    return "double";
  }

  override toJson(): unknown {
    return this.value;
  }
}

export class Uint extends CelObject {
  /** Like an int: a number while safe, a bigint beyond. */
  readonly value: number | bigint;

  constructor(value: number | bigint) {
    super();
    this.value = value;
  }

  get typeName(): string {
    return "uint";
  }

  override toJson(): unknown {
    return this.value;
  }
}

export class TypeValue extends CelObject {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  get typeName(): string {
    return "type";
  }

  override equals(other: Value): boolean {
    return other instanceof TypeValue && other.name === this.name;
  }

  override toJson(): unknown {
    return this.name;
  }
}

/** `optional.of(x)` or `optional.none()`. */
export class Optional extends CelObject {
  static readonly none = new Optional(undefined);
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    super();
    this.value = value;
  }

  get typeName(): string {
    return "optional_type";
  }

  override toJson(): unknown {
    return this.value === undefined ? null : toJson(this.value);
  }
}

/** The result of `Type{field: value}`. */
export class StructValue extends CelObject {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    super();
    this.typeName = typeName;
    this.fields = fields;
  }

  override toJson(): unknown {
    return Object.fromEntries([...this.fields].map(([name, value]) => [name, toJson(value)]));
  }
}

/**
 * A failed subexpression. It is a value, because `a || b` and `a && b` may absorb it; one that reaches the top becomes
 * the failure of the whole expression.
 */
export class CelError extends CelObject {
  readonly message: string;
  range: Range | undefined;

  constructor(message: string, range?: Range) {
    super();
    this.message = message;
    this.range = range;
  }

  get typeName(): string {
    return "error";
  }
}

/** A map key: strings, bools and ints as they are; a uint is kept by its number and remembered in `uintKeys`. */
export type MapKey = string | boolean | number | bigint;

export class CelMap extends CelObject {
  readonly entries: ReadonlyMap<MapKey, Value>;
  readonly uintKeys: ReadonlySet<MapKey> | undefined;

  constructor(entries: ReadonlyMap<MapKey, Value>, uintKeys?: ReadonlySet<MapKey>) {
    super();
    this.entries = entries;
    this.uintKeys = uintKeys;
  }

  get typeName(): string {
    return "map";
  }

  keyValue(key: MapKey): Value {
    const isUint = this.uintKeys?.has(key) && (typeof key === "number" || typeof key === "bigint");
    return isUint ? new Uint(key) : key;
  }

  override toJson(): unknown {
    return Object.fromEntries([...this.entries].map(([key, value]) => [String(key), toJson(value)]));
  }
}

/** The key as it is stored, or undefined when such a value can never be a key. A double finds the int it equals. */
export function mapKeyOf(value: Value): MapKey | undefined {
  if (typeof value !== "object") return value;
  if (value instanceof Uint) return value.value;
  if (value instanceof Double && Number.isInteger(value.value)) return canonicalInt(BigInt(value.value));
  return undefined;
}

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

export function canonicalInt(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

/** An int of 64 bits, or undefined when it does not fit. */
export function intFrom(value: bigint): number | bigint | undefined {
  return value < minInt || value > maxInt ? undefined : canonicalInt(value);
}

export function uintFrom(value: bigint): Uint | undefined {
  return value < 0n || value > maxUint ? undefined : new Uint(canonicalInt(value));
}

export function isInt(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isPlainObject(value: Value): value is PlainObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof CelObject) &&
    !(value instanceof Uint8Array)
  );
}

export function isMap(value: Value): value is CelMap | PlainObject {
  return value instanceof CelMap || isPlainObject(value);
}

/** What was read from JSON data, as a value; undefined when there is nothing, or nothing that CEL may see. */
export function adapt(raw: unknown): Value | undefined {
  if (typeof raw === "string" || typeof raw === "boolean") return raw;
  // Objects are only ever read through own properties, so any object is safe to pass on as data.
  if (typeof raw === "object") return raw as Value;
  if (typeof raw === "number") return Number.isSafeInteger(raw) ? raw : adaptNumber(raw);
  return typeof raw === "bigint" ? raw : undefined;
}

function adaptNumber(raw: number): Value {
  if (!Number.isInteger(raw)) return new Double(raw);
  return intFrom(BigInt(raw)) ?? new Double(raw);
}

/** The elements of a list as values. Lists from JSON may hold plain fractions; everything else is returned as it is. */
export function adaptList(list: readonly Value[]): readonly Value[] {
  for (const item of list) {
    if (item === undefined || (typeof item === "number" && !Number.isSafeInteger(item))) {
      return list.map((element) => adapt(element) ?? null);
    }
  }
  return list;
}

/** Plain objects, lists and bytes: whatever a property may be looked for in without knowing which of them it is. */
const builtIns: readonly object[] = [{}, [], new Uint8Array()];

/** Whether `object[name]` could find something that is not data. */
export function isBuiltInName(name: string): boolean {
  return builtIns.some((builtIn) => name in builtIn);
}

export function ownProperty(object: PlainObject, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? adapt(object[name]) : undefined;
}

/** The value of a key, or undefined. */
export function mapGet(map: CelMap | PlainObject, key: Value): Value | undefined {
  if (map instanceof CelMap) {
    const stored = mapKeyOf(key);
    return stored === undefined ? undefined : adapt(map.entries.get(stored));
  }
  return typeof key === "string" ? ownProperty(map, key) : undefined;
}

export function mapSize(map: CelMap | PlainObject): number {
  if (map instanceof CelMap) return map.entries.size;
  const size = Object.keys(map).length;
  spend(size);
  return size;
}

export function mapKeys(map: CelMap | PlainObject): Value[] {
  if (!(map instanceof CelMap)) return Object.keys(map);
  const keys = [...map.entries.keys()];
  return map.uintKeys === undefined ? keys : keys.map((key) => map.keyValue(key));
}

export function typeNameOf(value: Value): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "object") return "int";
  if (value === null) return "null_type";
  if (Array.isArray(value)) return "list";
  if (value instanceof Uint8Array) return "bytes";
  return value instanceof CelObject ? value.typeName : "map";
}

/** Plain JSON for output. Bytes become base64; ints beyond the safe range stay bigint. */
export function toJson(value: Value): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => toJson(item));
  if (value instanceof Uint8Array) return base64Encode(value);
  if (value instanceof CelObject) return value.toJson();
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item)]));
}

export function base64Encode(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
