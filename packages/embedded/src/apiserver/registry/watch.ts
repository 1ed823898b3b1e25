import type { Writable } from "node:stream";

import { describeError, hasCode, type Clock, type Timer } from "@polyvirt/core";

import type { EventCursor, StoreEvent } from "../../store/event-log.ts";
import type { Store } from "../../store/store.ts";
import { expired, internalError, StatusError } from "../http/status-error.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Selection } from "./list.ts";
import { decodeStored } from "./object-codec.ts";
import type { WatchFrames } from "./watch-frames.ts";

export interface WatchOptions {
  readonly selection: Selection;
  readonly frames: WatchFrames;
  /** Undefined: begin with the current objects. */
  readonly since: number | undefined;
  readonly initialEventsEnd: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

const bookmarkIntervalMs = 60_000;
const initialPage = 200;

/**
 * Sends events as fast as the client reads them. Nothing is queued for a slow client: it has a place in the history, and is
 * told with 410 when history has moved on without it.
 */
export class WatchSession {
  readonly #deps: { readonly store: Store; readonly clock: Clock };
  readonly #options: WatchOptions;
  readonly #output: Writable;
  #cursor: EventCursor | undefined;
  #timers: Timer[] = [];
  #blocked = false;
  #pumping = false;
  #ended = false;
  /** Where the initial listing has come to; undefined when it is done. */
  #initial: { readonly revision: number; after: string | undefined } | undefined;

  constructor(deps: { readonly store: Store; readonly clock: Clock }, output: Writable, options: WatchOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#output = output;
  }

  start(): void {
    const { store, clock } = this.#deps;
    const { selection, since, bookmarks, timeoutMs } = this.#options;
    const revision = since ?? store.revision;
    this.#cursor = store.watch(selection.prefix, revision, () => this.#pump());
    if (since === undefined) this.#initial = { revision, after: undefined };
    this.#output.on("drain", () => {
      this.#blocked = false;
      this.#pump();
    });
    this.#output.on("close", () => this.end());
    this.#output.on("error", () => this.end());
    this.#timers.push(clock.setTimer(timeoutMs, () => this.end()));
    if (bookmarks) this.#scheduleBookmark();
    this.#pump();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cursor?.close();
    for (const timer of this.#timers) timer.cancel();
    this.#output.end();
  }

  #scheduleBookmark(): void {
    this.#timers[1] = this.#deps.clock.setTimer(bookmarkIntervalMs, () => {
      if (this.#ended) return;
      // Only a client that has caught up gets one: it says "you have seen everything up to here".
      if (!this.#blocked && this.#initial === undefined) this.#bookmark();
      this.#scheduleBookmark();
    });
  }

  #bookmark(): void {
    const { frames } = this.#options;
    const { revision } = this.#deps.store;
    this.#send(frames.bookmark(revision, false));
  }

  #pump(): void {
    if (this.#pumping || this.#blocked || this.#ended) return;
    this.#pumping = true;
    try {
      this.#sendInitial();
      while (!this.#blocked && !this.#ended && this.#initial === undefined) {
        const event = this.#cursor?.next();
        if (event === undefined) break;
        this.#sendEvent(event);
      }
      if (this.#cursor?.compacted === true) this.#fail(tooOld());
    } catch (error) {
      this.#fail(hasCode(error, "StoreCompacted") ? tooOld() : error);
    } finally {
      this.#pumping = false;
    }
  }

  #sendInitial(): void {
    const { store } = this.#deps;
    const { selection, frames, initialEventsEnd } = this.#options;
    while (this.#initial !== undefined && !this.#blocked && !this.#ended) {
      const { revision, after } = this.#initial;
      const page = store.range(selection.prefix, {
        revision,
        limit: initialPage,
        ...(after === undefined ? {} : { after }),
      });
      for (const entry of page.entries) {
        this.#initial.after = entry.key;
        if (selection.matches === undefined || selection.matches(decodeStored(selection.resource, entry.value))) {
          this.#send(frames.object("ADDED", entry.value));
          if (this.#blocked) return;
        }
      }
      if (page.more) continue;
      this.#initial = undefined;
      if (initialEventsEnd) this.#send(frames.bookmark(revision, true));
    }
  }

  #sendEvent(event: StoreEvent): void {
    const { selection, frames } = this.#options;
    const { matches } = selection;
    const before =
      event.previous !== undefined && (matches === undefined || matches(this.#parsed(event.previous.value)));
    const after = event.value !== undefined && (matches === undefined || matches(frames.parsed(event)));
    if (event.value !== undefined && after) this.#send(frames.event(before ? "MODIFIED" : "ADDED", event));
    else if (before) this.#send(frames.deleted(event));
  }

  #parsed(value: Buffer): ApiObject {
    return decodeStored(this.#options.selection.resource, value);
  }

  #send(frame: Buffer): void {
    if (!this.#output.write(frame)) this.#blocked = true;
  }

  #fail(error: unknown): void {
    const { status } = error instanceof StatusError ? error : internalError(describeError(error));
    if (!this.#ended) this.#output.write(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
    this.end();
  }
}

const tooOld = (): StatusError => expired("The resourceVersion for the provided watch is too old.");
