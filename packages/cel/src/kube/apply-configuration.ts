import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from "@polyvirt/core";
import { valuesSchema, type StructuralSchema } from "./structural-schema.ts";

export interface ApplyOptions {
  /** What to do with lists and maps that can only be replaced as a whole: Kubernetes refuses to touch them. */
  readonly atomics: "refuse" | "replace";
}

export type ApplyResult =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Merges an apply configuration into an object the way server-side apply does: maps by key, lists by the keys that their
 * schema names, sets by value, everything else replaced. Nothing is ever removed.
 */
export function applyConfiguration(
  object: JsonObject,
  configuration: JsonObject,
  schema: StructuralSchema | undefined,
  options: ApplyOptions = { atomics: "refuse" },
): ApplyResult {
  if (options.atomics === "refuse") {
    const atomics = findAtomics(configuration, schema, "");
    if (atomics.length > 0) {
      const places = atomics.join(", ");
      return {
        ok: false,
        problem: `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${places}`,
      };
    }
  }
  const merged = mergeValue(object, configuration, schema);
  // Two objects merge to an object.
  return { ok: true, object: merged as JsonObject };
}

function isAtomic(value: JsonValue, schema: StructuralSchema | undefined): boolean {
  if (Array.isArray(value)) return !["map", "set"].includes(schema?.["x-kubernetes-list-type"] ?? "atomic");
  return isJsonObject(value) && schema?.["x-kubernetes-map-type"] === "atomic";
}

function findAtomics(value: JsonValue, schema: StructuralSchema | undefined, path: string): string[] {
  const own = isAtomic(value, schema) ? [path] : [];
  if (Array.isArray(value)) {
    return [...own, ...value.flatMap((item, index) => findAtomics(item, schema?.items, `${path}[${index}]`))];
  }
  if (!isJsonObject(value)) return own;
  const inner = Object.entries(value).flatMap(([name, item]) =>
    findAtomics(item, childSchema(schema, name), `${path}.${name}`),
  );
  return [...own, ...inner];
}

function childSchema(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const { properties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return schema === undefined ? undefined : valuesSchema(schema);
}

function mergeValue(
  current: JsonValue | undefined,
  change: JsonValue,
  schema: StructuralSchema | undefined,
): JsonValue {
  if (isAtomic(change, schema)) return change;
  if (Array.isArray(change)) return mergeList(Array.isArray(current) ? current : [], change, schema);
  if (!isJsonObject(change)) return change;
  const merged = new Map(isJsonObject(current) ? Object.entries(current) : []);
  for (const [name, value] of Object.entries(change)) {
    merged.set(name, mergeValue(merged.get(name), value, childSchema(schema, name)));
  }
  return Object.fromEntries(merged);
}

function mergeList(
  current: readonly JsonValue[],
  change: readonly JsonValue[],
  schema: StructuralSchema | undefined,
): JsonValue[] {
  const keys = schema?.["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : undefined;
  const merged = [...current];
  for (const item of change) {
    const index = merged.findIndex((candidate) => sameItem(candidate, item, keys));
    if (index === -1) merged.push(item);
    else merged[index] = mergeValue(merged[index], item, schema?.items);
  }
  return merged;
}

function sameItem(a: JsonValue, b: JsonValue, keys: readonly string[] | undefined): boolean {
  if (keys === undefined) return jsonEqual(a, b);
  return isJsonObject(a) && isJsonObject(b) && keys.every((key) => jsonEqual(a[key], b[key]));
}
