import { isJsonObject, jsonEqual, type JsonValue } from "./json.ts";
import { escapePointerPart } from "./json-pointer.ts";
import type { JsonPatchOperation } from "./json-patch.ts";

export interface JsonDiffOptions {
  /**
   * How the elements of a list are recognised: the name of the field that identifies them (`name`), or undefined when
   * the list is compared by position. Called with the pointer of the list, indexes as `*`: `/spec/containers`.
   */
  readonly listKey?: (listPath: string) => string | undefined;
}

/** The JSON patch that turns `from` into `to`. Lists with a key yield small patches when elements come, go or move. */
export function diffJson(from: unknown, to: unknown, options: JsonDiffOptions = {}): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  diffValue(from, to, { pointer: "", pattern: "" }, { operations, listKey: options.listKey ?? (() => undefined) });
  return operations;
}

interface Place {
  readonly pointer: string;
  readonly pattern: string;
}

interface Context {
  readonly operations: JsonPatchOperation[];
  readonly listKey: (listPath: string) => string | undefined;
}

function below(place: Place, part: string | number): Place {
  const escaped = escapePointerPart(String(part));
  return {
    pointer: `${place.pointer}/${escaped}`,
    pattern: `${place.pattern}/${typeof part === "number" ? "*" : escaped}`,
  };
}

function diffValue(from: unknown, to: unknown, place: Place, context: Context): void {
  if (jsonEqual(from, to)) return;
  if (isJsonObject(from) && isJsonObject(to)) return diffObject(from, to, place, context);
  if (Array.isArray(from) && Array.isArray(to)) {
    const key = context.listKey(place.pattern);
    const keyed = key === undefined ? undefined : keyedLists(from, to, key);
    return keyed === undefined
      ? diffByPosition(from, to, place, context)
      : diffByKey(keyed.from, keyed.to, place, context);
  }
  context.operations.push({ op: "replace", path: place.pointer, value: to });
}

function diffObject(from: Record<string, unknown>, to: Record<string, unknown>, place: Place, context: Context): void {
  for (const key of Object.keys(from)) {
    if (from[key] !== undefined && (!Object.hasOwn(to, key) || to[key] === undefined)) {
      context.operations.push({ op: "remove", path: below(place, key).pointer });
    }
  }
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    if (Object.hasOwn(from, key) && from[key] !== undefined) diffValue(from[key], value, below(place, key), context);
    else context.operations.push({ op: "add", path: below(place, key).pointer, value });
  }
}

function diffByPosition(from: readonly unknown[], to: readonly unknown[], place: Place, context: Context): void {
  const shared = Math.min(from.length, to.length);
  for (let index = 0; index < shared; index++) diffValue(from[index], to[index], below(place, index), context);
  for (let index = from.length - 1; index >= shared; index--) {
    context.operations.push({ op: "remove", path: below(place, index).pointer });
  }
  for (let index = shared; index < to.length; index++) {
    context.operations.push({ op: "add", path: `${place.pointer}/-`, value: to[index] });
  }
}

interface KeyedElement {
  readonly id: string;
  readonly value: unknown;
}

/** Both lists with the identity of each element; undefined when an identity is missing or used twice. */
function keyedLists(from: readonly unknown[], to: readonly unknown[], key: string) {
  const identify = (list: readonly unknown[]): KeyedElement[] | undefined => {
    const elements: KeyedElement[] = [];
    const seen = new Set<string>();
    for (const value of list) {
      const id: JsonValue | undefined = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      if (id === undefined || id === null || typeof id === "object") return undefined;
      const identity = `${typeof id}:${String(id)}`;
      if (seen.has(identity)) return undefined;
      seen.add(identity);
      elements.push({ id: identity, value });
    }
    return elements;
  };
  const left = identify(from);
  const right = identify(to);
  return left === undefined || right === undefined ? undefined : { from: left, to: right };
}

function diffByKey(from: readonly KeyedElement[], to: readonly KeyedElement[], place: Place, context: Context): void {
  const wanted = new Set(to.map(({ id }) => id));
  // What the list looks like after the operations so far.
  const current = [...from];
  for (let index = current.length - 1; index >= 0; index--) {
    const element = current[index];
    if (element === undefined || wanted.has(element.id)) continue;
    context.operations.push({ op: "remove", path: below(place, index).pointer });
    current.splice(index, 1);
  }
  to.forEach((element, index) => {
    const path = below(place, index).pointer;
    const at = current.findIndex(({ id }) => id === element.id);
    if (at < 0) {
      context.operations.push({ op: "add", path, value: element.value });
      current.splice(index, 0, element);
      return;
    }
    if (at !== index) {
      context.operations.push({ op: "move", from: below(place, at).pointer, path });
      current.splice(index, 0, ...current.splice(at, 1));
    }
    diffValue(current[index]?.value, element.value, below(place, index), context);
  });
}
