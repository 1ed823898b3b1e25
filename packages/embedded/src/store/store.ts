import { chmodSync, statfsSync } from "node:fs";
import { join } from "node:path";

import { open, type Database, type RootDatabase } from "lmdb";

import { errors } from "../errors.ts";
import { lockDirectory } from "./directory-lock.ts";
import { bucketOf, EventLog, type EventCursor, type StoredEntry, type StoreEvent } from "./event-log.ts";

interface RangeOptions {
  /** Only keys behind this one. */
  readonly after?: string;
  readonly limit?: number;
  /** Read the state as it was at this revision. */
  readonly revision?: number;
}

interface RangeResult {
  readonly entries: StoredEntry[];
  readonly more: boolean;
  readonly revision: number;
}

/**
 * Keys with values under one revision counter. Reads see only what is on disk; a write is acknowledged when it is there.
 * Keys look like `bucket/namespace/name`; watching and history work by bucket.
 */
export interface Store {
  /** The newest revision that is on disk. */
  readonly revision: number;
  get(key: string): StoredEntry | undefined;
  /** Throws StoreCompacted when the asked revision is no longer in history. */
  range(prefix: string, options?: RangeOptions): RangeResult;
  count(prefix: string): number;
  /** How many keys below the prefix sort up to and including `last`. */
  countUpTo(prefix: string, last: string): number;
  /**
   * Writes if the key's revision is still `expected` (0: the key must not exist). `encode` gets the new revision, so that
   * a value can carry it. Throws StoreConflict otherwise.
   */
  put(key: string, expected: number, encode: (revision: number) => Buffer): Promise<StoredEntry>;
  remove(key: string, expected: number, encodeLast: (revision: number) => Buffer): Promise<StoredEntry>;
  /** Reads events after `revision`, `wake` is called when there may be more. Throws StoreCompacted like `range`. */
  watch(prefix: string, revision: number, wake: () => void): EventCursor;
  /** Calls the listener with every batch right after it is on disk, before its writers hear of it. */
  subscribe(listener: (events: readonly StoreEvent[]) => void): void;
  compact(revision: number): void;
  close(): Promise<void>;
}

interface StoreOptions {
  readonly path: string;
  readonly historyEvents?: number;
  readonly historyBytes?: number;
}

interface PendingWrite {
  readonly event: StoreEvent;
  readonly resolve: (entry: StoredEntry) => void;
  readonly reject: (error: unknown) => void;
}

const formatVersion = 1;

export async function openStore(options: StoreOptions): Promise<Store> {
  const lock = await lockDirectory(options.path);
  try {
    return new LmdbStore(options, () => lock.release());
  } catch (error) {
    await lock.release();
    throw error;
  }
}

class LmdbStore implements Store {
  readonly #root: RootDatabase<unknown, string>;
  readonly #objects: Database<Buffer, string>;
  readonly #meta: Database<number, string>;
  readonly #log: EventLog;
  readonly #path: string;
  readonly #release: () => Promise<void>;
  /** Keys with a write under way, with the state that readers still see. */
  readonly #inFlight = new Map<string, { previous: StoredEntry | undefined; done: Promise<unknown> }>();
  readonly #listeners = new Set<(events: readonly StoreEvent[]) => void>();
  #queue: PendingWrite[] = [];
  #committing: Promise<void> | undefined;
  #revision: number;
  #allocated: number;
  #closed = false;

  constructor(options: StoreOptions, release: () => Promise<void>) {
    this.#path = options.path;
    this.#release = release;
    this.#root = open({
      path: join(options.path, "data.mdb"),
      noSubdir: true,
      // A write is acknowledged after the sync, never before it.
      overlappingSync: false,
      // We make our own batches; the one that the database would begin by itself has a promise that nobody sees fail.
      eventTurnBatching: false,
      maxDbs: 4,
    });
    // Secrets are in here; the directory is closed to others too, but a copy of the file should stay as private.
    for (const file of ["data.mdb", "data.mdb-lock"]) chmodSync(join(options.path, file), 0o600);
    this.#objects = this.#root.openDB<Buffer, string>("objects", { encoding: "binary", useVersions: true });
    this.#meta = this.#root.openDB<number, string>("meta", { encoding: "json" });
    this.#checkFormat();
    this.#revision = this.#meta.get("revision") ?? 1;
    this.#allocated = this.#revision;
    this.#log = new EventLog(
      { maxEvents: options.historyEvents ?? 4096, maxBytes: options.historyBytes ?? 24 * 1024 * 1024 },
      this.#revision,
    );
  }

  get revision(): number {
    return this.#revision;
  }

  get(key: string): StoredEntry | undefined {
    this.#checkOpen();
    const pending = this.#inFlight.get(key);
    return pending === undefined ? this.#onDisk(key) : pending.previous;
  }

  range(prefix: string, options: RangeOptions = {}): RangeResult {
    this.#checkOpen();
    const revision = options.revision ?? this.#revision;
    const overlay = this.#statesAt(prefix, revision);
    const wanted = options.limit ?? Number.POSITIVE_INFINITY;
    const entries: StoredEntry[] = [];
    const earlier = [...overlay.entries()]
      .filter(([key, entry]) => entry !== undefined && (options.after === undefined || key > options.after))
      .map(([, entry]) => entry)
      .filter((entry) => entry !== undefined)
      .sort((left, right) => (left.key < right.key ? -1 : 1));
    let next = 0;
    const push = (entry: StoredEntry): boolean => entries.push(entry) <= wanted;
    for (const item of this.#scan(prefix, options.after)) {
      for (let old = earlier[next]; old !== undefined && old.key < item.key; old = earlier[++next]) {
        if (!push(old)) return { entries: entries.slice(0, wanted), more: true, revision };
      }
      if (overlay.has(item.key)) continue;
      if (!push(item)) return { entries: entries.slice(0, wanted), more: true, revision };
    }
    for (let old = earlier[next]; old !== undefined; old = earlier[++next]) {
      if (!push(old)) return { entries: entries.slice(0, wanted), more: true, revision };
    }
    return { entries, more: false, revision };
  }

  count(prefix: string): number {
    this.#checkOpen();
    let count = this.#objects.getKeysCount({ start: prefix, end: endOf(prefix) });
    for (const [key, { previous }] of this.#inFlight) {
      if (!key.startsWith(prefix)) continue;
      const onDisk = this.#objects.doesExist(key);
      if (onDisk !== (previous !== undefined)) count += onDisk ? -1 : 1;
    }
    return count;
  }

  countUpTo(prefix: string, last: string): number {
    this.#checkOpen();
    return this.#objects.getKeysCount({ start: prefix, end: last, inclusiveEnd: true });
  }

  put(key: string, expected: number, encode: (revision: number) => Buffer): Promise<StoredEntry> {
    return this.#write(key, expected, (revision, previous) => ({
      revision,
      key,
      value: encode(revision),
      previous,
      last: undefined,
    }));
  }

  remove(key: string, expected: number, encodeLast: (revision: number) => Buffer): Promise<StoredEntry> {
    return this.#write(key, expected, (revision, previous) => ({
      revision,
      key,
      value: undefined,
      previous,
      last: encodeLast(revision),
    }));
  }

  watch(prefix: string, revision: number, wake: () => void): EventCursor {
    const cursor = this.#log.read(prefix, revision, wake);
    if (cursor === undefined) throw compacted(prefix, revision);
    return cursor;
  }

  subscribe(listener: (events: readonly StoreEvent[]) => void): void {
    this.#listeners.add(listener);
  }

  compact(revision: number): void {
    this.#log.compact(Math.min(revision, this.#revision));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#committing !== undefined) await this.#committing;
    // A read of this very moment would leave a timer behind that touches the closed database.
    this.#root.resetReadTxn();
    await this.#root.close();
    await this.#release();
  }

  async #write(
    key: string,
    expected: number,
    build: (revision: number, previous: StoredEntry | undefined) => StoreEvent,
  ): Promise<StoredEntry> {
    // Writers of one key take turns, so that each compares with what is really on disk.
    for (let turn = this.#inFlight.get(key); turn !== undefined; turn = this.#inFlight.get(key)) await turn.done;
    this.#checkOpen();
    const previous = this.#onDisk(key);
    const found = previous?.revision ?? 0;
    if (found !== expected) {
      throw errors.StoreConflict(`write ${key}: expected revision ${expected}, found ${found}; read it again`, {
        fields: { key, expected, found },
      });
    }
    const event = build(++this.#allocated, previous);
    const done = new Promise<StoredEntry>((resolve, reject) => this.#queue.push({ event, resolve, reject }));
    const settled = done.catch(() => undefined);
    this.#inFlight.set(key, { previous, done: settled });
    this.#committing ??= this.#commitAll();
    return done;
  }

  async #commitAll(): Promise<void> {
    // Leave the current turn first: everything written in it becomes one transaction with one sync.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      await this.#commit(batch);
    }
    this.#committing = undefined;
  }

  async #commit(batch: readonly PendingWrite[]): Promise<void> {
    const revision = batch.at(-1)?.event.revision ?? this.#revision;
    let failure: unknown;
    try {
      await this.#root.transaction(() => {
        // Each of these promises fails together with the transaction, which is where a failure is handled.
        for (const { event } of batch) {
          if (event.value === undefined) ignoreRejection(this.#objects.remove(event.key));
          else ignoreRejection(this.#objects.put(event.key, event.value, event.revision));
        }
        ignoreRejection(this.#meta.put("revision", revision));
      });
    } catch (error) {
      failure = error;
      // The database hangs the real cause onto its error as one more promise.
      if (error instanceof Error && "commitError" in error) ignoreRejection(error.commitError as Promise<unknown>);
    }
    for (const { event } of batch) this.#inFlight.delete(event.key);
    if (failure !== undefined) {
      const error = this.#writeFailure(failure);
      for (const { reject } of batch) reject(error);
      return;
    }
    this.#revision = revision;
    const events = batch.map(({ event }) => event);
    for (const listener of this.#listeners) listener(events);
    this.#log.append(events);
    for (const { event, resolve } of batch) {
      // One of the two is set by construction: a removal carries the last state.
      const value = (event.value ?? event.last) as Buffer;
      resolve({ key: event.key, revision: event.revision, value });
    }
  }

  #writeFailure(cause: unknown): Error {
    const { bavail, bsize } = statfsSync(this.#path);
    const free = bavail * bsize;
    return free < 1024 * 1024
      ? errors.StoreDiskFull(`write to store ${this.#path}: the disk is full; free some space`, { cause })
      : errors.StoreWriteFailed(`write to store ${this.#path}: it was not saved; see the cause`, { cause });
  }

  #onDisk(key: string): StoredEntry | undefined {
    const entry = this.#objects.getEntry(key);
    if (entry === undefined) return undefined;
    return { key, revision: entry.version ?? 0, value: entry.value };
  }

  *#scan(prefix: string, after: string | undefined): Generator<StoredEntry> {
    const start = after ?? prefix;
    const range = this.#objects.getRange({ ...(start === "" ? {} : { start }), end: endOf(prefix), versions: true });
    for (const { key, value, version } of range) {
      if (key === after) continue;
      yield { key, value, revision: version ?? 0 };
    }
  }

  /** Keys below the prefix whose state at `revision` differs from what the disk has now, with that state. */
  #statesAt(prefix: string, revision: number): Map<string, StoredEntry | undefined> {
    const states = new Map<string, StoredEntry | undefined>();
    for (const [key, { previous }] of this.#inFlight) if (key.startsWith(prefix)) states.set(key, previous);
    if (revision >= this.#revision) return states;
    const events = this.#log.since(bucketOf(prefix), revision);
    if (events === undefined) throw compacted(prefix, revision);
    // Newest first, so the oldest event after the revision decides.
    for (const event of events) if (event.key.startsWith(prefix)) states.set(event.key, event.previous);
    return states;
  }

  #checkOpen(): void {
    if (this.#closed) throw errors.StoreClosed(`use store ${this.#path}: it is closed`);
  }

  #checkFormat(): void {
    const found = this.#meta.get("format");
    if (found === undefined) this.#meta.putSync("format", formatVersion);
    else if (found !== formatVersion) {
      throw errors.StoreFormatUnknown(
        `open store ${this.#path}: its format is ${found}, this version reads ${formatVersion}; use the version that wrote it`,
      );
    }
  }
}

function compacted(prefix: string, revision: number): Error {
  return errors.StoreCompacted(`read ${prefix} at revision ${revision}: that history is gone; list again`, {
    fields: { prefix, revision },
  });
}

/** A rejection that nobody looks at would end the process. */
function ignoreRejection(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}

function endOf(prefix: string): string {
  return `${prefix}\uffff`;
}
