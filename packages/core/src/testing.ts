/** For tests of every package: time that stands still until the test moves it. */
import type { Clock, Timer } from "./clock.ts";

export interface ManualClock extends Clock {
  /** Moves time forward, running timers in order and letting their promises settle in between. */
  advance(milliseconds: number): Promise<void>;
  /** Timers that have not run yet. */
  pendingTimers(): number;
}

interface PendingTimer {
  readonly at: number;
  readonly callback: () => void;
}

export function createManualClock(startMs = Date.parse("2026-01-01T00:00:00Z")): ManualClock {
  const timers = new Set<PendingTimer>();
  let now = startMs;

  const setTimer = (delayMs: number, callback: () => void): Timer => {
    const timer = { at: now + Math.max(delayMs, 0), callback };
    timers.add(timer);
    return { cancel: () => timers.delete(timer) };
  };

  const next = (until: number): PendingTimer | undefined =>
    [...timers].filter(({ at }) => at <= until).sort((left, right) => left.at - right.at)[0];

  return {
    now: () => now,
    monotonic: () => now - startMs,
    setTimer,
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const onAbort = () => {
          timer.cancel();
          reject(signal?.reason);
        };
        const timer = setTimer(delayMs, () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        });
        signal?.addEventListener("abort", onAbort, { once: true });
      }),
    async advance(milliseconds) {
      const until = now + milliseconds;
      await settle();
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.callback();
        await settle();
      }
      now = until;
      await settle();
    },
    pendingTimers: () => timers.size,
  };
}

/** Lets everything that only waits for promises run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
