import { errors } from "./errors.ts";
import { isJsonObject, jsonEqual, setOwn, type JsonObject, type JsonValue } from "./json.ts";
import { parseArrayIndex, parsePointer } from "./json-pointer.ts";

export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

/** Copies of copies grow without end; a patch may not make a document larger than this many nodes by copying. */
const MAX_COPIED_NODES = 1_000_000;

/** Applies the patch (RFC 6902) to a copy; the document itself stays as it is. All operations succeed, or it throws. */
export function applyJsonPatch<T>(document: T, patch: readonly JsonPatchOperation[]): T {
  const holder = { root: structuredClone(document) as JsonValue, copied: 0 };
  checkPatch(patch).forEach((operation, index) => {
    try {
      applyOperation(holder, operation);
    } catch (cause) {
      if (!(cause instanceof PatchMismatch)) throw cause;
      throw errors.JsonPatchNotApplicable(`apply JSON patch, operation ${index} (${operation.op}): ${cause.message}`, {
        fields: { index, op: operation.op, path: operation.path },
      });
    }
  });
  // A patch may change the type; the caller knows what its patch does.
  return holder.root as T;
}

const operands = new Map([
  ["add", "value"],
  ["replace", "value"],
  ["test", "value"],
  ["move", "from"],
  ["copy", "from"],
  ["remove", "nothing"],
]);

/** Checks the shape of a patch that came from outside. */
export function checkPatch(patch: unknown): readonly JsonPatchOperation[] {
  if (!Array.isArray(patch)) throw errors.JsonPatchInvalid("read JSON patch: it must be a list of operations");
  patch.forEach((operation: unknown, index) => {
    const fail = (why: string) =>
      errors.JsonPatchInvalid(`read JSON patch, operation ${index}: ${why}`, { fields: { index } });
    if (!isJsonObject(operation)) throw fail("it must be an object");
    if (typeof operation.path !== "string") throw fail('"path" must be a JSON pointer');
    parsePointer(operation.path);
    const op = JSON.stringify(operation.op);
    const needs = typeof operation.op === "string" ? operands.get(operation.op) : undefined;
    if (needs === undefined) throw fail(`unknown operation ${op}`);
    if (needs === "value" && !Object.hasOwn(operation, "value")) throw fail(`${op} needs a "value"`);
    if (needs === "from") {
      if (typeof operation.from !== "string") throw fail(`${op} needs "from", a JSON pointer`);
      parsePointer(operation.from);
    }
  });
  // Every element was checked above.
  return patch as JsonPatchOperation[];
}

/** The patch is well formed but does not fit this document. */
class PatchMismatch extends Error {}

interface Holder {
  root: JsonValue;
  copied: number;
}

function applyOperation(holder: Holder, operation: JsonPatchOperation): void {
  const path = parsePointer(operation.path);
  switch (operation.op) {
    case "add":
      return add(holder, path, structuredClone(operation.value) as JsonValue);
    case "remove":
      remove(holder, path);
      return;
    case "replace":
      return replace(holder, path, structuredClone(operation.value) as JsonValue);
    case "move": {
      if (operation.path === operation.from) {
        read(holder, path);
        return;
      }
      if (operation.path.startsWith(`${operation.from}/`)) {
        throw new PatchMismatch(`"${operation.from}" cannot be moved into itself`);
      }
      return add(holder, path, remove(holder, parsePointer(operation.from)));
    }
    case "copy": {
      const value = read(holder, parsePointer(operation.from));
      holder.copied += countNodes(value);
      if (holder.copied > MAX_COPIED_NODES) throw new PatchMismatch("the copies are too large together");
      return add(holder, path, structuredClone(value));
    }
    case "test":
      if (!jsonEqual(read(holder, path), operation.value)) {
        throw new PatchMismatch(`the value at "${operation.path}" is not the expected one`);
      }
      return;
  }
}

function countNodes(value: JsonValue): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countNodes(item), 1);
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, item) => sum + countNodes(item), 1);
  return 1;
}

/** The array or object that holds the last part of the path. */
function parentOf(holder: Holder, path: readonly string[]): { parent: JsonValue[] | JsonObject; last: string } {
  const parent = read(holder, path.slice(0, -1));
  const last = path.at(-1) ?? "";
  if (Array.isArray(parent) || isJsonObject(parent)) return { parent, last };
  throw new PatchMismatch(`"/${path.slice(0, -1).join("/")}" is neither an object nor a list`);
}

function read(holder: Holder, path: readonly string[]): JsonValue {
  let current = holder.root;
  path.forEach((part, depth) => {
    const shown = `/${path.slice(0, depth + 1).join("/")}`;
    if (Array.isArray(current)) {
      const index = existingIndex(current, part, shown);
      // existingIndex made sure that it is within the list.
      current = current[index] as JsonValue;
    } else if (isJsonObject(current) && Object.hasOwn(current, part)) {
      // hasOwn says that the key is there.
      current = current[part] as JsonValue;
    } else throw new PatchMismatch(`"${shown}" does not exist`);
  });
  return current;
}

function existingIndex(list: readonly JsonValue[], part: string, shown: string): number {
  const index = parseArrayIndex(part);
  if (index === undefined) throw new PatchMismatch(`"${part}" in "${shown}" is not an index of a list`);
  if (index >= list.length) throw new PatchMismatch(`"${shown}" is beyond the end of the list (${list.length})`);
  return index;
}

function add(holder: Holder, path: readonly string[], value: JsonValue): void {
  if (path.length === 0) {
    holder.root = value;
    return;
  }
  const { parent, last } = parentOf(holder, path);
  if (!Array.isArray(parent)) return setOwn(parent, last, value);
  const index = last === "-" ? parent.length : parseArrayIndex(last);
  if (index === undefined) throw new PatchMismatch(`"${last}" in "/${path.join("/")}" is not an index of a list`);
  if (index > parent.length) {
    throw new PatchMismatch(`"/${path.join("/")}" is beyond the end of the list (${parent.length})`);
  }
  parent.splice(index, 0, value);
}

function remove(holder: Holder, path: readonly string[]): JsonValue {
  const old = read(holder, path);
  if (path.length === 0) {
    holder.root = null;
    return old;
  }
  const { parent, last } = parentOf(holder, path);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return old;
}

function replace(holder: Holder, path: readonly string[], value: JsonValue): void {
  read(holder, path);
  if (path.length === 0) {
    holder.root = value;
    return;
  }
  const { parent, last } = parentOf(holder, path);
  if (Array.isArray(parent)) parent[Number(last)] = value;
  else setOwn(parent, last, value);
}
