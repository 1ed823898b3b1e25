import { isJsonObject, jsonEqual, setOwn, type JsonObject, type JsonValue } from "@polyvirt/core";

/** One operation as an expression makes it; nothing about it has been checked. */
export interface PatchOperation {
  readonly op?: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: JsonValue;
}

export type PatchResult =
  | { readonly ok: true; readonly object: JsonObject }
  /** A test failed: the patch is not meant for this object. */
  | { readonly ok: false; readonly problem?: undefined }
  | { readonly ok: false; readonly problem: string };

/**
 * Applies a JSON patch with the leniency and the words of Kubernetes' library, which are not those of RFC 6902: a key that is
 * missing can be replaced, the first part of a path does not matter, and indices may be negative.
 */
export function applyKubernetesPatch(object: JsonObject, operations: readonly PatchOperation[]): PatchResult {
  const document = structuredClone(object);
  try {
    for (const operation of operations) applyOperation(document, operation);
  } catch (error) {
    if (error instanceof TestFailed) return { ok: false };
    if (error instanceof Mismatch) return { ok: false, problem: error.message };
    throw error;
  }
  return { ok: true, object: document };
}

class TestFailed extends Error {}

/** Why an operation does not apply; `cause` is what the container said. */
class Mismatch extends Error {
  static missing(message: string): Mismatch {
    return new Mismatch(`${message}: missing value`);
  }

  static index(index: number): Mismatch {
    return new Mismatch(`Unable to access invalid index: ${index}: invalid index referenced`);
  }
}

type Container = JsonValue[] | JsonObject;

interface Place {
  readonly container: Container;
  readonly key: string;
}

const actions: Readonly<Record<string, (document: JsonObject, operation: Required<PatchOperation>) => void>> = {
  add(document, { path, value }) {
    const place = find(document, path) ?? fail(`add operation does not apply: doc is missing path: "${path}"`);
    within(`error in add for path: '${path}'`, () => add(place, value));
  },
  remove(document, { path }) {
    const place = find(document, path) ?? fail(`remove operation does not apply: doc is missing path: "${path}"`);
    within(`error in remove for path: '${path}'`, () => remove(place));
  },
  replace(document, { path, value }) {
    const place = find(document, path) ?? fail(`replace operation does not apply: doc is missing path: ${path}`);
    if (Array.isArray(place.container) && !isReadable(place)) {
      fail(`replace operation does not apply: doc is missing key: ${path}`);
    }
    set(place, value);
  },
  move(document, { path, from }) {
    const source = find(document, from) ?? fail(`move operation does not apply: doc is missing from path: ${from}`);
    const value = within(`error in move for path: '${source.key}'`, () => {
      const read = get(source);
      remove(source);
      return read;
    });
    const target =
      find(document, path) ?? fail(`move operation does not apply: doc is missing destination path: ${path}`);
    within(`error in move for path: '${path}'`, () => add(target, value ?? null));
  },
  copy(document, { path, from }) {
    const source = find(document, from) ?? fail(`copy operation does not apply: doc is missing from path: ${from}`);
    const value = within(`error in copy for from: '${from}'`, () => get(source));
    const target =
      find(document, path) ?? fail(`copy operation does not apply: doc is missing destination path: ${path}`);
    within("error while adding value during copy", () => add(target, structuredClone(value ?? null)));
  },
  test(document, { path, value }) {
    const place = find(document, path) ?? fail(`test operation does not apply: is missing path: ${path}`);
    const found = within(`error in test for path: '${path}'`, () => get(place));
    if (!jsonEqual(found ?? null, value)) throw new TestFailed();
  },
};

function applyOperation(document: JsonObject, { op = "", path = "", from = "", value = null }: PatchOperation): void {
  const action = Object.hasOwn(actions, op) ? actions[op] : undefined;
  if (action === undefined) throw new Mismatch(`Unexpected kind: ${op}`);
  action(document, { op, path, from, value: structuredClone(value) });
}

function fail(message: string): never {
  throw Mismatch.missing(message);
}

function within<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof Mismatch ? new Mismatch(`${place}: ${error.message}`) : error;
  }
}

/** The container that a path leads to, and the key in it; undefined when the way there is missing. */
function find(document: JsonObject, path: string): Place | undefined {
  const parts = path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = parts.at(-1);
  if (parts.length < 2 || key === undefined) return undefined;
  let container: Container = document;
  for (const part of parts.slice(1, -1)) {
    const next: JsonValue | undefined = isReadable({ container, key: part })
      ? get({ container, key: part })
      : undefined;
    if (!Array.isArray(next) && !isJsonObject(next)) return undefined;
    container = next;
  }
  return { container, key };
}

function isReadable({ container, key }: Place): boolean {
  return !Array.isArray(container) || (/^[+-]?\d+$/.test(key) && Number(key) < container.length);
}

function indexIn(list: readonly JsonValue[], key: string, limit: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw new Mismatch(`strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`);
  const index = Number(key);
  if (index >= limit || index < -list.length) throw Mismatch.index(index);
  return index < 0 ? index + list.length : index;
}

function get({ container, key }: Place): JsonValue | undefined {
  if (Array.isArray(container)) return container[indexIn(container, key, container.length)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function set({ container, key }: Place, value: JsonValue): void {
  if (Array.isArray(container)) container[indexIn(container, key, container.length)] = value;
  else setOwn(container, key, value);
}

function add({ container, key }: Place, value: JsonValue): void {
  if (!Array.isArray(container)) setOwn(container, key, value);
  else if (key === "-") container.push(value);
  else {
    const isIndex = /^[+-]?\d+$/.test(key);
    const words = `value was not a proper array index: '${key}'`;
    const index = isIndex
      ? indexIn(container, key, container.length + 1)
      : within(words, () => indexIn(container, key, 0));
    container.splice(index, 0, value);
  }
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) container.splice(indexIn(container, key, container.length), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else fail(`Unable to remove nonexistent key: ${key}`);
}
