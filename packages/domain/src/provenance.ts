import { isJsonObject, jsonEqual, parsePointer, resolvePointer } from "@polyvirt/core";
import type { Domain } from "./gen/domain.ts";

/**
 * Who set which part of a domain, as plain JSON beside it. A string is the layer that set everything below; `layer` is
 * the one that set what `fields` or `items` do not name; `removed` names who took a field away.
 */
export type Provenance =
  | string
  | { readonly layer: string; readonly fields: Readonly<Record<string, Provenance>>; readonly removed: Removals }
  | { readonly layer: string; readonly items: readonly Provenance[] };

type Removals = Readonly<Record<string, string>>;

/** Attributes changes of a domain to the layers that make it: defaults, configurators, plug-ins. */
export interface ProvenanceRecorder {
  /** Says that whatever has changed since the last call was set by this layer: `configurator/disk`, `plugin/gpu`. */
  attribute(domain: Domain, layer: string): void;
  /** The layer that set the value at the path, or that removed it from there. Paths may begin with `/spec`. */
  whoSet(path: string): string | undefined;
  /** What was recorded, to be kept or sent; `whoSet` of this module reads it. */
  provenance(): Provenance;
}

/**
 * Starts recording with a domain as it is. Nothing is asked of those who change it: the recorder keeps a copy and
 * compares, which takes a fraction of a millisecond per step, and nothing where nobody records.
 */
export function recordProvenance(domain: Domain, layer: string): ProvenanceRecorder {
  let snapshot: unknown = structuredClone(domain);
  let recorded: Provenance = layer;
  return {
    attribute(next, by) {
      if (jsonEqual(snapshot, next)) return;
      recorded = attributed(snapshot, next, recorded, by);
      snapshot = copied(snapshot, next);
    },
    whoSet: (path) => whoSet(recorded, path),
    provenance: () => recorded,
  };
}

/** A copy that shares with the one before what did not change. */
function copied(before: unknown, after: unknown): unknown {
  if (typeof after !== "object" || after === null) return after;
  if (jsonEqual(before, after)) return before;
  if (Array.isArray(after)) {
    const items: readonly unknown[] = Array.isArray(before) ? before : [];
    return after.map((item, index) => copied(items[index], item));
  }
  const fields: Readonly<Record<string, unknown>> = isJsonObject(before) ? before : {};
  return Object.fromEntries(Object.entries(after).map(([key, value]) => [key, copied(own(fields, key), value)]));
}

/** The layer that a record names for a path. */
export function whoSet(provenance: Provenance, path: string): string | undefined {
  const parts = parsePointer(path);
  if (parts[0] === "spec") parts.shift();
  let current: Provenance = provenance;
  for (const part of parts) {
    if (typeof current === "string") return current;
    if ("items" in current) {
      current = current.items[Number(part)] ?? current.layer;
    } else {
      const removed = own(current.removed, part);
      if (removed !== undefined) return removed;
      current = own(current.fields, part) ?? current.layer;
    }
  }
  return typeof current === "string" ? current : current.layer;
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function layerOf(provenance: Provenance): string {
  return typeof provenance === "string" ? provenance : provenance.layer;
}

function attributed(before: unknown, after: unknown, known: Provenance, by: string): Provenance {
  if (jsonEqual(before, after)) return known;
  if (isJsonObject(before) && isJsonObject(after)) return attributedFields(before, after, known, by);
  if (Array.isArray(before) && Array.isArray(after)) return attributedItems(before, after, known, by);
  return by;
}

function attributedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  known: Provenance,
  by: string,
): Provenance {
  const fields: [string, Provenance][] = [];
  const removed: Record<string, string> = typeof known === "object" && "removed" in known ? { ...known.removed } : {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const from = before[key];
    const to = after[key];
    if (to === undefined) {
      if (from !== undefined) removed[key] = by;
      continue;
    }
    delete removed[key];
    fields.push([key, from === undefined ? by : attributed(from, to, fieldOf(known, key), by)]);
  }
  return { layer: layerOf(known), fields: Object.fromEntries(fields), removed };
}

function fieldOf(known: Provenance, key: string): Provenance {
  if (typeof known === "string" || !("fields" in known)) return layerOf(known);
  return own(known.fields, key) ?? known.layer;
}

/** Items are followed when others come, go or move: the same item first, then the one of the same identity. */
function attributedItems(
  before: readonly unknown[],
  after: readonly unknown[],
  known: Provenance,
  by: string,
): Provenance {
  const unused = new Set(before.keys());
  const take = (candidates: readonly number[] | undefined): number | undefined => {
    const index = candidates?.find((candidate) => unused.has(candidate));
    if (index !== undefined) unused.delete(index);
    return index;
  };
  const sameText = indexesBy(before, (item) => JSON.stringify(item));
  const sameIdentity = indexesBy(before, identityOf);
  // Unchanged items claim theirs first, so that a new look-alike cannot.
  const sources = after.map((item) => take(sameText.get(JSON.stringify(item))));
  const items = after.map((item, position) => {
    const identity = identityOf(item);
    const nameless = identity === undefined && identityOf(before[position]) === undefined;
    const candidates = nameless ? [position] : sameIdentity.get(identity);
    const source = sources[position] ?? take(candidates);
    if (source === undefined) return by;
    const old = typeof known === "object" && "items" in known ? known.items[source] : undefined;
    return attributed(before[source], item, old ?? layerOf(known), by);
  });
  return { layer: layerOf(known), items };
}

function indexesBy<Key>(items: readonly unknown[], keyOf: (item: unknown) => Key): Map<Key, number[]> {
  const indexes = new Map<Key, number[]>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    const list = indexes.get(key);
    if (list === undefined) indexes.set(key, [index]);
    else list.push(index);
  }
  return indexes;
}

/** What tells one device from another of its kind, in the order of trust. */
const identities = ["/alias/name", "/target/dev", "/mac/address", "/name", "/id", "/uuid", "/$attributes/id"];

function identityOf(item: unknown): string | undefined {
  for (const pointer of identities) {
    const value = resolvePointer(item, pointer);
    if (typeof value === "string" || typeof value === "number") return `${pointer} ${value}`;
  }
  return undefined;
}
