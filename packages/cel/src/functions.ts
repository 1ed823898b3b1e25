import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
  listOf,
  mapOf,
  type Type,
} from "./types.ts";
import { Duration, Timestamp } from "./time.ts";
import {
  CelError,
  Double,
  TypeValue,
  Uint,
  adaptList,
  isInt,
  isList,
  isMap,
  typeNameOf,
  type CelMap,
  type CelObject,
  type PlainObject,
  type Value,
} from "./values.ts";

/** One signature of a function. */
export interface Overload {
  /** The name that cel-go has for it: cost rules go by it. */
  readonly id: string;
  /** Called as `target.name(args)`; the target is then the first parameter. */
  readonly member: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  /** Per parameter: whether a value may be passed. */
  readonly accepts: readonly ((value: Value) => boolean)[];
  /** Only called with values that every `accepts` let through. Undefined when the function evaluates all overloads alike. */
  readonly call: ((...args: Value[]) => Value) | undefined;
}

/** What a call costs, from its arguments (the target first) and result; undefined for the default of 1. */
export type CallCost = (args: readonly Value[], result: Value, overloadId: string) => number | undefined;

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads, for operators whose types are cheaper to see than to look up. */
  readonly evaluate?: (...args: Value[]) => Value;
  /** Cost by function, whichever overload it is: that is how Kubernetes prices its library. */
  readonly cost?: CallCost;
  /** Cost by overload, known only when the checker found exactly one. */
  readonly overloadCost?: CallCost;
  /** What Kubernetes says when no overload fits, where it is not the name with the types. */
  readonly mismatch?: string;
}

/** A parameter: its type for the checker, and the test that its values pass when the expression runs. */
export interface Param<V extends Value> {
  readonly type: Type;
  readonly accepts: (value: Value) => value is V;
}

function isAnything(value: Value): value is Value {
  return value !== undefined;
}

export const args = {
  dyn: { type: DYN, accepts: isAnything },
  bool: { type: BOOL, accepts: (value: Value): value is boolean => typeof value === "boolean" },
  int: { type: INT, accepts: isInt },
  uint: { type: UINT, accepts: (value: Value): value is Uint => value instanceof Uint },
  double: { type: DOUBLE, accepts: (value: Value): value is Double => value instanceof Double },
  string: { type: STRING, accepts: (value: Value): value is string => typeof value === "string" },
  bytes: { type: BYTES, accepts: (value: Value): value is Uint8Array => value instanceof Uint8Array },
  timestamp: { type: TIMESTAMP, accepts: (value: Value): value is Timestamp => value instanceof Timestamp },
  duration: { type: DURATION, accepts: (value: Value): value is Duration => value instanceof Duration },
  type: { type: TYPE, accepts: (value: Value): value is TypeValue => value instanceof TypeValue },
  /** A value of a type parameter or another type that is not told apart when running. */
  any: (type: Type): Param<Value> => ({ type, accepts: isAnything }),
  list: (element: Type): Param<readonly Value[]> => ({ type: listOf(element), accepts: isList }),
  listWhere: <V extends Value>(element: Param<V>): Param<readonly V[]> => ({
    type: listOf(element.type),
    accepts: (value: Value): value is readonly V[] => isList(value) && adaptList(value).every(element.accepts),
  }),
  map: (key: Type, value: Type): Param<CelMap | PlainObject> => ({ type: mapOf(key, value), accepts: isMap }),
  object: <V extends CelObject>(type: Type, constructor: abstract new (...parts: never[]) => V): Param<V> => ({
    type,
    accepts: (value: Value): value is V => value instanceof constructor,
  }),
} as const;

type Arguments<P extends readonly Param<Value>[]> = {
  [Index in keyof P]: P[Index] extends Param<infer V> ? V : never;
};

function makeOverload<const P extends readonly Param<Value>[]>(
  id: string,
  member: boolean,
  params: P,
  result: Type,
  call: ((...values: Arguments<P>) => Value) | undefined,
): Overload {
  return {
    id,
    member,
    params: params.map((param) => param.type),
    result,
    accepts: params.map((param) => param.accepts),
    // Callers test every argument with `accepts` first, so the implementation gets what it declares.
    call: call as ((...values: Value[]) => Value) | undefined,
  };
}

/** `name(params)` */
export function global<const P extends readonly Param<Value>[]>(
  id: string,
  params: P,
  result: Type,
  call?: (...values: Arguments<P>) => Value,
): Overload {
  return makeOverload(id, false, params, result, call);
}

/** `target.name(rest)`: the target is the first parameter. */
export function member<const P extends readonly Param<Value>[]>(
  id: string,
  params: P,
  result: Type,
  call?: (...values: Arguments<P>) => Value,
): Overload {
  return makeOverload(id, true, params, result, call);
}

export function declare(
  name: string,
  overloads: readonly Overload[],
  more: Omit<FunctionDeclaration, "name" | "overloads"> = {},
): FunctionDeclaration {
  return { name, overloads, ...more };
}

export function noSuchOverload({ name, mismatch }: FunctionDeclaration, values: readonly Value[]): CelError {
  return new CelError(mismatch ?? `no such overload: ${name}(${values.map(typeNameOf).join(", ")})`);
}
