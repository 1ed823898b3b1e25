import type { SerializedIncrementalTest } from "@bufbuild/cel-spec/testdata/tests.js";
import { Environment } from "../environment.ts";
import { declare, type FunctionDeclaration, type Overload } from "../functions.ts";
import { encodersLibrary } from "../lib/encoders.ts";
import { listsLibrary } from "../lib/lists.ts";
import { bindingsLibrary, blocksLibrary, twoVariablesLibrary } from "../lib/macro-libraries.ts";
import { mathLibrary } from "../lib/math.ts";
import { optionalsLibrary } from "../lib/optionals.ts";
import { setsLibrary } from "../lib/sets.ts";
import { stringsLibrary } from "../lib/strings.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  UINT,
  listOf,
  mapOf,
  opaque,
  param,
  typeOf,
  type Type,
} from "../types.ts";
import { CelMap, Double, TypeValue, canonicalInt, mapKeyOf, Uint, type MapKey, type Value } from "../values.ts";

type Vector = SerializedIncrementalTest["original"];
type Json = { readonly [key: string]: unknown };

/** A vector that builds, binds, returns or names a protobuf message; this engine has none. */
export function needsProtobuf(vector: Vector): boolean {
  const text = JSON.stringify({ ...vector, description: "", name: "" });
  return /TestAllTypes|TestRequired|"container":"google.protobuf"|NestedTestAllTypes|objectValue|messageType|google\.protobuf\.(?!Timestamp|Duration)|NestedEnum|GlobalEnum|enumValue/.test(
    text,
  );
}

const base = new Environment({
  libraries: [
    stringsLibrary(),
    listsLibrary,
    mathLibrary,
    setsLibrary,
    encodersLibrary,
    optionalsLibrary,
    twoVariablesLibrary,
    bindingsLibrary,
    blocksLibrary,
  ],
});

const primitives: Readonly<Record<string, Type>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
};

// The vectors are protobuf JSON; each of these objects has exactly one of the properties looked for.
export function readType(json: Json): Type {
  if ("primitive" in json) return primitives[String(json["primitive"])] ?? DYN;
  if ("wellKnown" in json)
    return json["wellKnown"] === "TIMESTAMP" ? TIMESTAMP : json["wellKnown"] === "DURATION" ? DURATION : DYN;
  if ("listType" in json) return listOf(readType((json["listType"] as { elemType?: Json }).elemType ?? {}));
  if ("mapType" in json) {
    const map = json["mapType"] as { keyType?: Json; valueType?: Json };
    return mapOf(readType(map.keyType ?? {}), readType(map.valueType ?? {}));
  }
  if ("abstractType" in json) {
    const abstract = json["abstractType"] as { name: string; parameterTypes?: Json[] };
    return opaque(abstract.name, ...(abstract.parameterTypes ?? []).map(readType));
  }
  if ("typeParam" in json) return param(String(json["typeParam"]));
  if ("type" in json) return typeOf(readType(json["type"] as Json));
  if ("null" in json) return NULL;
  return DYN;
}

export function readValue(json: Json): Value {
  if ("int64Value" in json) return canonicalInt(BigInt(String(json["int64Value"])));
  if ("uint64Value" in json) return new Uint(canonicalInt(BigInt(String(json["uint64Value"]))));
  if ("doubleValue" in json) return new Double(Number(json["doubleValue"]));
  if ("stringValue" in json) return String(json["stringValue"]);
  if ("boolValue" in json) return json["boolValue"] === true;
  if ("bytesValue" in json) return Uint8Array.from(atob(String(json["bytesValue"])), (char) => char.charCodeAt(0));
  if ("typeValue" in json) return new TypeValue(String(json["typeValue"]));
  if ("listValue" in json) return ((json["listValue"] as { values?: Json[] }).values ?? []).map(readValue);
  if ("mapValue" in json) {
    const entries = (json["mapValue"] as { entries?: { key: Json; value: Json }[] }).entries ?? [];
    const table = new Map<MapKey, Value>();
    const uints = new Set<MapKey>();
    for (const entry of entries) {
      const key = readValue(entry.key);
      const stored = mapKeyOf(key) ?? "";
      table.set(stored, readValue(entry.value));
      if (key instanceof Uint) uints.add(stored);
    }
    return new CelMap(table, uints.size === 0 ? undefined : uints);
  }
  return null;
}

function readFunction(name: string, json: Json): FunctionDeclaration {
  const overloads = (
    json["overloads"] as { overloadId: string; params?: Json[]; resultType: Json; isInstanceFunction?: boolean }[]
  ).map((overload): Overload => ({
    id: overload.overloadId,
    member: overload.isInstanceFunction ?? false,
    params: (overload.params ?? []).map(readType),
    result: readType(overload.resultType),
    accepts: (overload.params ?? []).map(() => () => true),
    call: undefined,
  }));
  return declare(name, overloads);
}

export function environmentFor(vector: Vector): Environment {
  const declared = (vector["typeEnv"] ?? []) as { name: string; ident?: { type: Json }; function?: Json }[];
  const bound = Object.keys((vector["bindings"] ?? {}) as Json);
  const variables: Record<string, Type> = Object.fromEntries(bound.map((name) => [name, DYN]));
  const functions: FunctionDeclaration[] = [];
  for (const item of declared) {
    if (item.ident !== undefined) variables[item.name] = readType(item.ident.type);
    if (item.function !== undefined) functions.push(readFunction(item.name, item.function));
  }
  return base.extend({
    container: typeof vector["container"] === "string" ? vector["container"] : "",
    variables,
    libraries: functions.length === 0 ? [] : [{ name: "declared", functions }],
  });
}

export function bindingsOf(vector: Vector): Record<string, Value> {
  const bindings = (vector["bindings"] ?? {}) as Record<string, { value?: Json }>;
  return Object.fromEntries(Object.entries(bindings).map(([name, { value }]) => [name, readValue(value ?? {})]));
}
