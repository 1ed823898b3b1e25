import type { Clock } from "@polyvirt/core";

/**
 * A controller that has just created or deleted objects must not count again before its cache shows them, or it would do
 * the same twice. It notes what it did here and waits until each change was seen (or a time limit has passed, in case the
 * object came and went between two looks).
 */
export class Expectations {
  readonly #clock: Clock;
  readonly #pending = new Map<string, Map<string, number>>();
  readonly #limitMs: number;

  constructor(clock: Clock, limitMs = 30_000) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** `seen` tells whether the cache shows the change already. */
  expect(key: string, change: string, seen: boolean): void {
    if (seen) return;
    const changes = this.#pending.get(key) ?? new Map<string, number>();
    changes.set(change, this.#clock.monotonic() + this.#limitMs);
    this.#pending.set(key, changes);
  }

  observe(change: string): void {
    for (const [key, changes] of this.#pending) {
      if (changes.delete(change) && changes.size === 0) this.#pending.delete(key);
    }
  }

  isSettled(key: string): boolean {
    const changes = this.#pending.get(key);
    if (changes === undefined) return true;
    for (const [change, limit] of changes) if (limit <= this.#clock.monotonic()) changes.delete(change);
    if (changes.size > 0) return false;
    this.#pending.delete(key);
    return true;
  }
}
