import type { StoreEvent } from "../../store/event-log.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { ResponseFormat } from "../http/media-type.ts";
import { decodeStored, isSentAsStored, startsWith, storedHead } from "./object-codec.ts";
import type { Resource } from "./resource.ts";
import { partialMetadata, tableOf, type IncludeObject } from "./table.ts";

type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** Makes the lines of a watch in one format. Watchers with the same format share one, so each event is encoded once. */
export interface WatchFrames {
  object(type: EventType, value: Buffer): Buffer;
  event(type: "ADDED" | "MODIFIED", event: StoreEvent): Buffer;
  /** The object went away, or no longer matches: its last matching state under the new revision. */
  deleted(event: StoreEvent): Buffer;
  bookmark(revision: number, initialEventsEnd: boolean): Buffer;
  parsed(event: StoreEvent): ApiObject;
}

/** Enough for all watchers that keep up; a slow one encodes again for itself. */
const cacheSize = 32;

export class WatchFramesCache {
  readonly #byFormat = new WeakMap<Resource, Map<string, WatchFrames>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get(resource: Resource, format: ResponseFormat, include: IncludeObject): WatchFrames {
    let formats = this.#byFormat.get(resource);
    if (formats === undefined) {
      formats = new Map();
      this.#byFormat.set(resource, formats);
    }
    const key = format.as === "table" ? `table-${include}` : format.as;
    let frames = formats.get(key);
    if (frames === undefined) {
      frames = createFrames(resource, format.as, include, this.#now);
      formats.set(key, frames);
    }
    return frames;
  }
}

function createFrames(
  resource: Resource,
  as: ResponseFormat["as"],
  include: IncludeObject,
  now: () => number,
): WatchFrames {
  const encoded = new RecentCache<Buffer>();
  const objects = new RecentCache<ApiObject>();
  const raw = as === "object" && isSentAsStored(resource);
  const identity = storedHead(resource);

  const view = (object: ApiObject): unknown => {
    if (as === "object") return object;
    if (as === "metadata") return partialMetadata(object);
    return tableOf(resource, [object], {
      metadata: { resourceVersion: object.metadata.resourceVersion },
      include,
      now: now(),
    });
  };
  const frame = (type: string, value: Buffer): Buffer => {
    if (!raw || !startsWith(value, identity)) return lineOf(type, JSON.stringify(view(decodeStored(resource, value))));
    return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), value, closing]);
  };
  return {
    object: frame,
    event: (type, event) => encoded.get(event, type, () => frame(type, event.value ?? Buffer.alloc(0))),
    deleted: (event) => encoded.get(event, "DELETED", () => frame("DELETED", event.last ?? lastState(event))),
    bookmark: (revision, initialEventsEnd) =>
      lineOf("BOOKMARK", JSON.stringify(bookmark(resource, as, revision, initialEventsEnd))),
    parsed: (event) => objects.get(event, "", () => decodeStored(resource, event.value ?? Buffer.alloc(0))),
  };
}

const closing = Buffer.from("}\n");
const lineOf = (type: string, object: string): Buffer => Buffer.from(`{"type":"${type}","object":${object}}\n`);

/** The state before the event, stamped with the event's revision. */
function lastState(event: StoreEvent): Buffer {
  // Only called for an event that had a previous state.
  const object = JSON.parse((event.previous?.value ?? Buffer.from("{}")).toString()) as ApiObject;
  object.metadata.resourceVersion = String(event.revision);
  return Buffer.from(JSON.stringify(object));
}

function bookmark(resource: Resource, as: ResponseFormat["as"], revision: number, initialEventsEnd: boolean): unknown {
  const annotations = initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...annotations };
  if (as === "object") return { kind: resource.kind, apiVersion: resource.apiVersion, metadata };
  if (as === "metadata") return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
  const row = { cells: [], object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata } };
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: String(revision) },
    columnDefinitions: [],
    rows: [row],
  };
}

/** Remembers what was made for the last few events. */
class RecentCache<T> {
  readonly #entries = new Map<StoreEvent, Map<string, T>>();

  get(event: StoreEvent, key: string, make: () => T): T {
    let entry = this.#entries.get(event);
    if (entry === undefined) {
      entry = new Map();
      this.#entries.set(event, entry);
      const oldest = this.#entries.size > cacheSize ? this.#entries.keys().next().value : undefined;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    let value = entry.get(key);
    if (value === undefined) {
      value = make();
      entry.set(key, value);
    }
    return value;
  }
}
