import type { Clock, Timer } from "@polyvirt/core";

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Delay after the first failure of a key; doubles with each further one. */
  readonly initialBackoffMs?: number;
  readonly maxBackoffMs?: number;
}

/**
 * Keys waiting to be worked on. A key is in it at most once; a key that is added while it is worked on comes again
 * afterwards, so that no change is missed and no key is worked on twice at the same time.
 */
export interface WorkQueue {
  add(key: string): void;
  addAfter(key: string, delayMs: number): void;
  /** Adds the key after its own growing delay. */
  addRateLimited(key: string): void;
  /** Forgets the failures of a key. */
  forget(key: string): void;
  failures(key: string): number;
  /** The next key; undefined when the queue was shut down. */
  take(): Promise<string | undefined>;
  /** Must follow each `take`. */
  done(key: string): void;
  shutDown(): void;
  readonly length: number;
}

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  return new KeyQueue(options);
}

class KeyQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #initialBackoffMs: number;
  readonly #maxBackoffMs: number;
  /** Insertion order is working order. */
  readonly #waiting = new Set<string>();
  readonly #working = new Set<string>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { at: number; timer: Timer }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#initialBackoffMs = options.initialBackoffMs ?? 50;
    this.#maxBackoffMs = options.maxBackoffMs ?? 60_000;
  }

  get length(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    const taker = this.#waiting.has(key) ? undefined : this.#takers.shift();
    if (taker === undefined) this.#waiting.add(key);
    else {
      this.#working.add(key);
      taker(key);
    }
  }

  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return;
    if (delayMs <= 0) return this.add(key);
    const at = this.#clock.monotonic() + delayMs;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined) {
      if (earlier.at <= at) return;
      earlier.timer.cancel();
    }
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, timer });
  }

  addRateLimited(key: string): void {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min(this.#initialBackoffMs * 2 ** failures, this.#maxBackoffMs));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const [key] = this.#waiting;
    if (key === undefined) return new Promise((resolve) => this.#takers.push(resolve));
    this.#waiting.delete(key);
    this.#working.add(key);
    return Promise.resolve(key);
  }

  done(key: string): void {
    this.#working.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  shutDown(): void {
    this.#closed = true;
    this.#waiting.clear();
    this.#again.clear();
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
