import { hasCode, type Clock, type Logger, type Timer } from "@polyvirt/core";

import type { Store } from "../../store/store.ts";

const sweepMs = 60_000;

/** Removes events that were not touched for their time to live, so that the store does not only grow. */
export class EventExpiry {
  readonly #deps: {
    readonly store: Store;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly ttlSeconds: number;
  };
  #timer: Timer | undefined;

  constructor(deps: {
    readonly store: Store;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly ttlSeconds: number;
  }) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = this.#deps.clock.setTimer(sweepMs, () => {
      void this.sweep().finally(() => {
        if (this.#timer !== undefined) this.start();
      });
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async sweep(): Promise<void> {
    const { store, clock, ttlSeconds, logger } = this.#deps;
    const oldest = clock.now() - ttlSeconds * 1000;
    for (const { key, revision, value } of store.range("events/").entries) {
      if (lastTouched(value) >= oldest) continue;
      try {
        await store.remove(key, revision, (next) => stamped(value, next));
      } catch (error) {
        // It was written in this moment, so it is not old after all.
        if (!hasCode(error, "StoreConflict")) logger.warn("an old event could not be removed", { key, error });
      }
    }
  }
}

/** The event as it was, under the revision of its removal. */
function stamped(value: Buffer, revision: number): Buffer {
  const event = JSON.parse(value.toString()) as { metadata: { resourceVersion?: string } };
  event.metadata.resourceVersion = String(revision);
  return Buffer.from(JSON.stringify(event));
}

/** When the event was written last: its newest timestamp. */
function lastTouched(value: Buffer): number {
  const event = JSON.parse(value.toString()) as {
    metadata: { creationTimestamp?: string };
    lastTimestamp?: string;
    eventTime?: string;
    series?: { lastObservedTime?: string };
  };
  const times = [
    event.metadata.creationTimestamp,
    event.lastTimestamp,
    event.eventTime,
    event.series?.lastObservedTime,
  ];
  return Math.max(...times.map((time) => Date.parse(time ?? "")).filter((time) => !Number.isNaN(time)), 0);
}
