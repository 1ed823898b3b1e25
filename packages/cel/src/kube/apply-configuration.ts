import { isJsonObject, type JsonObject, type JsonValue } from "@polyvirt/core";
import { identityOf, typedProblems } from "./typed-problems.ts";
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
  const misfit = misfitOf("original", object, schema) ?? misfitOf("patch", configuration, schema);
  if (misfit !== undefined) return { ok: false, problem: misfit };
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

function misfitOf(which: string, value: JsonObject, schema: StructuralSchema | undefined): string | undefined {
  // Every object may say what it is, whatever its schema says.
  const { apiVersion: _, kind: __, ...fields } = value;
  const problems = typedProblems(fields, schema);
  const [only] = problems;
  if (only === undefined) return undefined;
  const told = problems.length === 1 ? only : ["errors:", ...problems.map((problem) => `  ${problem}`)].join("\n");
  return `failed to convert ${which} object to typed object: ${told}`;
}

function isAtomic(value: JsonValue, schema: StructuralSchema | undefined): boolean {
  if (Array.isArray(value)) return !["map", "set"].includes(schema?.["x-kubernetes-list-type"] ?? "atomic");
  return isJsonObject(value) && schema?.["x-kubernetes-map-type"] === "atomic";
}

/** Where the configuration touches what can only be replaced; of what its schema leaves open nothing is known. */
function findAtomics(value: JsonValue, schema: StructuralSchema | undefined, path: string): string[] {
  const own = isAtomic(value, schema) ? [path] : [];
  if (Array.isArray(value)) {
    return [...own, ...value.flatMap((item, index) => findAtomics(item, schema?.items, `${path}[${index}]`))];
  }
  if (!isJsonObject(value)) return own;
  const inner = Object.entries(value).flatMap(([name, item]) => {
    const isDeclared = schema === undefined || Object.hasOwn(schema.properties ?? {}, name);
    return isDeclared ? findAtomics(item, schema?.properties?.[name], `${path}.${name}`) : [];
  });
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
  if (change === null) return current ?? null;
  if (isAtomic(change, schema)) return change;
  if (Array.isArray(change)) return mergeList(Array.isArray(current) ? current : [], change, schema);
  if (!isJsonObject(change)) return change;
  const merged = new Map(isJsonObject(current) ? Object.entries(current) : []);
  for (const [name, value] of Object.entries(change)) {
    merged.set(name, mergeValue(merged.get(name), value, childSchema(schema, name)));
  }
  return Object.fromEntries(merged);
}

/**
 * Elements of both lists, each once. The order is that of the change for what is in both, and what is only in one of them
 * stays where its neighbours are, as in server-side apply.
 */
function mergeList(
  current: readonly JsonValue[],
  change: readonly JsonValue[],
  schema: StructuralSchema | undefined,
): JsonValue[] {
  const [ours, theirs] = [identities(current, schema), identities(change, schema)];
  const shared = theirs.filter((identity) => ours.includes(identity));
  const merged: JsonValue[] = [];
  const done = new Set<string>();
  const take = (identity: string): void => {
    const [left, right] = [current[ours.indexOf(identity)], change[theirs.indexOf(identity)]];
    merged.push(right === undefined ? (left ?? null) : mergeValue(left, right, schema?.items));
    done.add(identity);
    if (shared[0] === identity) shared.shift();
  };
  let left = 0;
  let right = 0;
  while (left < ours.length || right < theirs.length) {
    const [mine, yours] = [ours[left], theirs[right]];
    if (mine !== undefined && mine === yours) {
      take(mine);
      left += 1;
      right += 1;
    } else if (mine !== undefined && !theirs.includes(mine)) {
      merged.push(current[left] ?? null);
      left += 1;
    } else if (mine !== undefined && yours !== undefined && shared.length > 0 && shared[0] !== mine) {
      // In both, but the change has another one first.
      left += 1;
    } else {
      if (mine !== undefined && done.has(mine)) left += 1;
      if (yours !== undefined) take(yours);
      right += 1;
    }
  }
  return merged;
}

/** Elements that are the same thing have the same text; one that has no identity is only the same as its like. */
function identities(list: readonly JsonValue[], schema: StructuralSchema | undefined): string[] {
  return list.map((item) => {
    const identity = schema === undefined ? undefined : identityOf(item, schema);
    return identity !== undefined && "text" in identity ? identity.text : JSON.stringify(item);
  });
}
