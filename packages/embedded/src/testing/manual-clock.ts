import type { Clock, Timer } from "@polyvirt/core";

/** Time that passes only when a test says so. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; callback: () => void }[] = [];

  constructor(start = Date.parse("2026-01-01T00:00:00Z")) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.setTimer(delayMs, resolve);
      signal?.addEventListener(
        "abort",
        () => {
          timer.cancel();
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  /** Runs what is due, in order, and lets everything that follows from it happen. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets promises and their consequences run until nothing moves any more. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
