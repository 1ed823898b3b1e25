import { badRequest, StatusError } from "../http/status-error.ts";
import { copyJson, deepEqual, isJsonObject, setOwn, textOf, type JsonObject } from "../json.ts";
import { propertySchema, resolve, type Schema } from "../schema/schema.ts";
import { goMapText } from "./go-map-text.ts";

const deleteFromPrimitiveList = "$deleteFromPrimitiveList/";
const setElementOrder = "$setElementOrder/";

/**
 * Kubernetes' strategic merge patch: like a merge patch, but lists whose schema names a merge key merge item by item, and
 * `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/x` and `$setElementOrder/x` give directions.
 */
export function applyStrategicMergePatch(target: unknown, patch: unknown, schema: Schema): unknown {
  return mergeObject(isJsonObject(target) ? target : {}, patch, resolve(schema));
}

function mergeObject(target: JsonObject, patch: unknown, schema: Schema): unknown {
  if (!isJsonObject(patch)) return copyJson(patch);
  const directive = patch["$patch"];
  if (directive === "replace") return withoutDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge")
    throw unusable(`unknown patch type: ${textOf(directive)} in map: ${goMapText(patch)}`);
  const result: JsonObject = { ...target };
  retainKeys(result, patch);
  for (const [key, value] of Object.entries(patch)) {
    if (key === "$patch" || key === "$retainKeys" || key.startsWith(setElementOrder)) continue;
    if (key.startsWith(deleteFromPrimitiveList)) {
      removeFromList(result, key.slice(deleteFromPrimitiveList.length), value);
    } else if (value === null) {
      delete result[key];
    } else {
      const present = Object.hasOwn(result, key) ? result[key] : undefined;
      const child = resolve(propertySchema(schema, key) ?? {});
      setOwn(result, key, mergeField(present, value, child, patch[`${setElementOrder}${key}`]));
    }
  }
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(setElementOrder)) continue;
    const name = key.slice(setElementOrder.length);
    if (Object.hasOwn(patch, name)) continue;
    const child = resolve(propertySchema(schema, name) ?? {});
    const list = result[name];
    if (Array.isArray(list) && Array.isArray(order))
      result[name] = inOrder(list, order, list, child["x-kubernetes-patch-merge-key"]);
  }
  return result;
}

function mergeField(present: unknown, patch: unknown, schema: Schema, order: unknown): unknown {
  if (isJsonObject(patch)) {
    // Some structures are replaced as a whole, for example a selector.
    if (schema["x-kubernetes-patch-strategy"] === "replace") return withoutDirectives(patch);
    return mergeObject(isJsonObject(present) ? present : {}, patch, schema);
  }
  if (!Array.isArray(patch)) return copyJson(patch);
  const strategy = schema["x-kubernetes-patch-strategy"] ?? "";
  if (!strategy.split(",").includes("merge"))
    return patch.filter((item) => !isPureDirective(item)).map(withoutDirectives);
  const list = Array.isArray(present) ? present : [];
  if (patch.some(isPureDirective)) return patch.filter((item) => !isPureDirective(item)).map(withoutDirectives);
  const key = schema["x-kubernetes-patch-merge-key"];
  return inOrder(mergeList(list, patch, schema), Array.isArray(order) ? order : patch, list, key);
}

const isPureDirective = (item: unknown): boolean =>
  isJsonObject(item) && item["$patch"] === "replace" && Object.keys(item).length === 1;

function mergeList(present: readonly unknown[], patch: readonly unknown[], schema: Schema): unknown[] {
  const key = schema["x-kubernetes-patch-merge-key"];
  if (key === undefined)
    return [...present, ...patch.filter((item) => !present.some((other) => deepEqual(other, item)))];
  const items = resolve(schema.items ?? {});
  const result = [...present];
  for (const item of patch) {
    if (!isJsonObject(item)) throw badRequest("expected a map in a list that is merged by key");
    if (item[key] === undefined) throw unusable(`map: ${goMapText(item)} does not contain declared merge key: ${key}`);
    const index = result.findIndex((other) => isJsonObject(other) && other[key] === item[key]);
    if (item["$patch"] === "delete") {
      if (index !== -1) result.splice(index, 1);
    } else if (index === -1) {
      result.push(mergeObject({}, item, items));
    } else {
      result[index] = mergeObject(result[index] as JsonObject, item, items);
    }
  }
  return result;
}

/**
 * The order of a merged list: the listed items as they are listed, the others as they were; where both kinds were there
 * before, their old order decides how they interleave, and new ones come first.
 */
function inOrder(
  list: readonly unknown[],
  listed: readonly unknown[],
  before: readonly unknown[],
  key: string | undefined,
): unknown[] {
  const identity = (item: unknown): string =>
    JSON.stringify(key !== undefined && isJsonObject(item) ? item[key] : item) ?? "";
  const places = (items: readonly unknown[]): Map<string, number> =>
    new Map(items.map((item, index) => [identity(item), index]));
  const wanted = places(listed);
  const old = places(before);
  const left = list.filter((item) => !wanted.has(identity(item)));
  const right = list
    .filter((item) => wanted.has(identity(item)))
    .sort((one, other) => (wanted.get(identity(one)) ?? 0) - (wanted.get(identity(other)) ?? 0));
  const result: unknown[] = [];
  while (left.length > 0 && right.length > 0) {
    const [one, other] = [old.get(identity(left[0])), old.get(identity(right[0]))];
    const takeLeft = one !== undefined && other !== undefined && one < other;
    result.push(takeLeft ? left.shift() : right.shift());
  }
  return [...result, ...left, ...right];
}

function removeFromList(target: JsonObject, name: string, values: unknown): void {
  const list = target[name];
  if (!Array.isArray(list) || !Array.isArray(values)) return;
  target[name] = list.filter((item) => !values.some((value) => deepEqual(value, item)));
}

/** Kubernetes takes such a patch for its own mistake. */
const unusable = (why: string): StatusError => new StatusError(500, "", why);

/** The directive names every field that may be there afterwards, those of the patch too. */
function retainKeys(target: JsonObject, patch: JsonObject): void {
  const keys = patch["$retainKeys"];
  if (!Array.isArray(keys)) return;
  if (Object.keys(patch).some((key) => !key.startsWith("$") && !keys.includes(key)))
    throw badRequest("invalid patch format of retainKeys");
  for (const key of Object.keys(target)) if (!keys.includes(key)) delete target[key];
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    if (key === "$patch" || key === "$retainKeys" || key.startsWith(setElementOrder) || child === null) continue;
    setOwn(result, key, withoutDirectives(child));
  }
  return result;
}
