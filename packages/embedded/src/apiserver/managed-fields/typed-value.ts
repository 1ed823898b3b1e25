import { copyJson, deepEqual, isJsonObject, setOwn, type JsonObject } from "../json.ts";
import { propertySchema, resolve, type Schema } from "../schema/schema.ts";
import { FieldSet } from "./field-set.ts";

/** How a value is divided into fields that can have different owners. */
type Shape =
  | { readonly type: "leaf" }
  | { readonly type: "map"; readonly schema: Schema }
  | { readonly type: "set" }
  | { readonly type: "keyed"; readonly keys: readonly string[]; readonly items: Schema };

const leaf: Shape = { type: "leaf" };
const untyped: Schema = {};

function shapeOf(schema: Schema, value: unknown): Shape {
  if (Array.isArray(value)) {
    const listType = schema["x-kubernetes-list-type"];
    if (listType === "set") return { type: "set" };
    if (listType === "map" && schema.items !== undefined) {
      return { type: "keyed", keys: schema["x-kubernetes-list-map-keys"] ?? [], items: schema.items };
    }
    return leaf;
  }
  if (isJsonObject(value) && schema["x-kubernetes-map-type"] !== "atomic") return { type: "map", schema };
  return leaf;
}

function childSchema(schema: Schema, name: string): Schema {
  const child = propertySchema(schema, name);
  return child === undefined ? untyped : resolve(child);
}

const isStructField = (schema: Schema, name: string): boolean =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, name);

/** The step that names a list item by its keys; absent keys take the schema's default. */
function itemStep(item: unknown, keys: readonly string[], items: Schema): string {
  const schema = resolve(items);
  const entries = [...keys].sort().flatMap((key) => {
    const value = isJsonObject(item) ? (item[key] ?? schema.properties?.[key]?.default) : undefined;
    return value === undefined ? [] : [[key, value] as const];
  });
  return `k:${JSON.stringify(Object.fromEntries(entries))}`;
}

const valueStep = (item: unknown): string => `v:${JSON.stringify(item)}`;

/** The children of a value with the step, schema and value of each; none for leaves. */
function* childrenOf(
  shape: Shape,
  value: unknown,
): Generator<{ step: string; schema: Schema; value: unknown; isField: boolean }> {
  if (shape.type === "map") {
    for (const [name, child] of Object.entries(value as JsonObject)) {
      yield {
        step: `f:${name}`,
        schema: childSchema(shape.schema, name),
        value: child,
        isField: isStructField(shape.schema, name),
      };
    }
  } else if (shape.type === "keyed") {
    for (const item of value as unknown[]) {
      yield {
        step: itemStep(item, shape.keys, shape.items),
        schema: resolve(shape.items),
        value: item,
        isField: false,
      };
    }
  } else if (shape.type === "set") {
    for (const item of value as unknown[])
      yield { step: valueStep(item), schema: untyped, value: item, isField: false };
  }
}

/** The fields that an applied configuration names. */
export function fieldsOf(value: unknown, schema: Schema): FieldSet {
  const set = new FieldSet();
  collect(value, schema, set);
  return set;
}

function collect(value: unknown, schema: Schema, set: FieldSet): void {
  const shape = shapeOf(schema, value);
  if (shape.type === "leaf") {
    set.member = true;
    return;
  }
  for (const child of childrenOf(shape, value)) {
    const node = set.child(child.step);
    collect(child.value, child.schema, node);
    const isEmpty = child.value === null || (isJsonObject(child.value) && Object.keys(child.value).length === 0);
    if (isEmpty || !child.isField) node.member = true;
  }
}

export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

export function compareValues(old: unknown, value: unknown, schema: Schema): Comparison {
  const result = { added: new FieldSet(), removed: new FieldSet(), modified: new FieldSet() };
  compareAt(old, value, schema, result);
  return result;
}

function compareAt(old: unknown, value: unknown, schema: Schema, result: Comparison): void {
  if (old === undefined) return markAll(value, schema, result.added);
  if (value === undefined) return markAll(old, schema, result.removed);
  const before = shapeOf(schema, old);
  const after = shapeOf(schema, value);
  if (before.type === "leaf" || after.type !== before.type) {
    if (!deepEqual(old, value)) result.modified.member = true;
    return;
  }
  const oldChildren = new Map([...childrenOf(before, old)].map((child) => [child.step, child]));
  for (const child of childrenOf(after, value)) {
    const previous = oldChildren.get(child.step);
    oldChildren.delete(child.step);
    compareChild(child.step, previous?.value, child.value, child.schema, result);
  }
  for (const child of oldChildren.values()) compareChild(child.step, child.value, undefined, child.schema, result);
}

function compareChild(step: string, old: unknown, value: unknown, schema: Schema, result: Comparison): void {
  if (old === value || (old !== undefined && deepEqual(old, value))) return;
  compareAt(old, value, schema, {
    added: result.added.child(step),
    removed: result.removed.child(step),
    modified: result.modified.child(step),
  });
}

function markAll(value: unknown, schema: Schema, set: FieldSet): void {
  set.member = true;
  for (const child of childrenOf(shapeOf(schema, value), value))
    markAll(child.value, child.schema, set.child(child.step));
}

/** The live value with everything that the applied configuration says put into it. */
export function mergeValues(live: unknown, applied: unknown, schema: Schema): unknown {
  const shape = shapeOf(schema, applied);
  if (live === undefined || live === null || shape.type === "leaf" || shapeOf(schema, live).type !== shape.type)
    return copyJson(applied);
  if (shape.type === "map") {
    const result: JsonObject = { ...(live as JsonObject) };
    for (const child of childrenOf(shape, applied)) {
      const name = child.step.slice(2);
      const present = Object.hasOwn(result, name) ? result[name] : undefined;
      setOwn(result, name, mergeValues(present, child.value, child.schema));
    }
    return result;
  }
  const merged = new Map([...childrenOf(shape, live)].map((child) => [child.step, child.value]));
  for (const child of childrenOf(shape, applied)) {
    merged.set(child.step, mergeValues(merged.get(child.step), child.value, child.schema));
  }
  return [...merged.values()];
}

/** The value without the given fields. An item or map that others still hold a part of stays, with only that part. */
export function removeFields(value: unknown, schema: Schema, remove: FieldSet, keep: FieldSet): unknown {
  const shape = shapeOf(schema, value);
  if (shape.type === "leaf" || shape.type === "set") {
    if (shape.type === "leaf") return value;
    return (value as unknown[]).filter((item) => remove.children.get(valueStep(item))?.member !== true);
  }
  const kept = [...childrenOf(shape, value)].flatMap((child) => {
    const gone = remove.children.get(child.step);
    if (gone === undefined) return [child];
    const held = keep.children.get(child.step);
    const isHeld = held !== undefined && !held.isEmpty();
    if (gone.member && !isHeld) return [];
    const rest = removeFields(child.value, child.schema, gone, held ?? new FieldSet());
    const isEmptied =
      isJsonObject(rest) && Object.keys(rest).length === 0 && Object.keys(child.value as object).length > 0;
    return isEmptied && !isHeld ? [] : [{ ...child, value: rest }];
  });
  if (shape.type === "keyed") return kept.map((child) => child.value);
  return Object.fromEntries(kept.map((child) => [child.step.slice(2), child.value]));
}
