/** One committed change. `value` is absent when the key was removed; `last` then holds the object's final state. */
export interface StoreEvent {
  readonly revision: number;
  readonly key: string;
  readonly value: Buffer | undefined;
  readonly previous: StoredEntry | undefined;
  /** What a reader should see for a removal: the object as it was, stamped with the removal's revision. */
  readonly last: Buffer | undefined;
}

export interface StoredEntry {
  readonly key: string;
  readonly revision: number;
  readonly value: Buffer;
}

export interface EventLogLimits {
  /** Most events kept per bucket. */
  readonly maxEvents: number;
  /** Bytes kept over all buckets; the largest bucket is trimmed first. */
  readonly maxBytes: number;
}

/**
 * A reader's place in the history of one bucket. It holds a position and no queue: a reader that never reads costs
 * nothing, and finds out through `compacted` when history has moved on without it.
 */
export interface EventCursor {
  /** The next event, or nothing when the reader has caught up or lost its place. */
  next(): StoreEvent | undefined;
  readonly compacted: boolean;
  close(): void;
}

interface Bucket {
  events: StoreEvent[];
  /** Sequence number of `events[0]`. */
  first: number;
  bytes: number;
  /** Reading may start after this revision. */
  floor: number;
  readonly readers: Set<() => void>;
}

/** The bounded history of committed events, one log per bucket (the part of a key before its first slash). */
export class EventLog {
  readonly #buckets = new Map<string, Bucket>();
  readonly #limits: EventLogLimits;
  #baseRevision: number;
  #bytes = 0;

  constructor(limits: EventLogLimits, baseRevision: number) {
    this.#limits = limits;
    this.#baseRevision = baseRevision;
  }

  append(events: readonly StoreEvent[]): void {
    const touched = new Set<Bucket>();
    for (const event of events) {
      const bucket = this.#bucket(bucketOf(event.key));
      bucket.events.push(event);
      bucket.bytes += sizeOf(event);
      this.#bytes += sizeOf(event);
      // Trimming in steps keeps the cost of removing from the front of the array small.
      if (bucket.events.length > this.#limits.maxEvents * 1.25) this.#trim(bucket, this.#limits.maxEvents);
      touched.add(bucket);
    }
    while (this.#bytes > this.#limits.maxBytes) this.#trimLargest();
    for (const bucket of touched) for (const wake of bucket.readers) wake();
  }

  /** Events of the bucket with a higher revision, newest first; undefined when history does not reach back that far. */
  since(bucketName: string, revision: number): StoreEvent[] | undefined {
    const bucket = this.#bucket(bucketName);
    if (revision < bucket.floor) return undefined;
    const found: StoreEvent[] = [];
    for (let index = bucket.events.length - 1; index >= 0; index--) {
      const event = bucket.events[index];
      if (event === undefined || event.revision <= revision) break;
      found.push(event);
    }
    return found;
  }

  /** Starts reading after `revision`; undefined when that part of history is gone. */
  read(prefix: string, revision: number, wake: () => void): EventCursor | undefined {
    const bucket = this.#bucket(bucketOf(prefix));
    if (revision < bucket.floor) return undefined;
    let position = bucket.first + upperBound(bucket.events, revision);
    let compacted = false;
    bucket.readers.add(wake);
    return {
      next() {
        for (;;) {
          if (position < bucket.first) {
            compacted = true;
            return undefined;
          }
          const event = bucket.events[position - bucket.first];
          if (event === undefined) return undefined;
          position++;
          if (event.key.startsWith(prefix)) return event;
        }
      },
      get compacted() {
        return compacted;
      },
      close: () => bucket.readers.delete(wake),
    };
  }

  /** Forgets everything up to now, so that older revisions answer "gone". */
  compact(revision: number): void {
    this.#baseRevision = revision;
    for (const bucket of this.#buckets.values()) {
      this.#trim(bucket, bucket.events.length - upperBound(bucket.events, revision));
      bucket.floor = Math.max(bucket.floor, revision);
    }
  }

  #bucket(name: string): Bucket {
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = { events: [], first: 0, bytes: 0, floor: this.#baseRevision, readers: new Set() };
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }

  #trimLargest(): void {
    let largest: Bucket | undefined;
    for (const bucket of this.#buckets.values()) {
      if (largest === undefined || bucket.bytes > largest.bytes) largest = bucket;
    }
    if (largest !== undefined) this.#trim(largest, Math.floor(largest.events.length / 2));
  }

  #trim(bucket: Bucket, keep: number): void {
    const removed = bucket.events.splice(0, bucket.events.length - keep);
    for (const event of removed) {
      bucket.bytes -= sizeOf(event);
      this.#bytes -= sizeOf(event);
      bucket.floor = event.revision;
    }
    bucket.first += removed.length;
  }
}

export function bucketOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? key : key.slice(0, slash);
}

/** Index of the first event with a higher revision. */
function upperBound(events: readonly StoreEvent[], revision: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const event = events[middle];
    if (event !== undefined && event.revision <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sizeOf(event: StoreEvent): number {
  const overhead = 200;
  return overhead + (event.value?.length ?? 0) + (event.previous?.value.length ?? 0) + (event.last?.length ?? 0);
}
