import { describeError, type Clock, type Logger, type Timer } from "@polyvirt/core";
import type { GuestAgent } from "@polyvirt/stack";

interface FreezeLimitDependencies {
  readonly clock: Pick<Clock, "setTimer">;
  readonly logger: Logger;
}

/** Timers that are set for longer fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** A guest whose file systems are frozen waits for somebody who may never come: after its limit it is thawed anyway. */
export class FreezeLimit {
  readonly #dependencies: FreezeLimitDependencies;
  #timer: Timer | undefined;

  constructor(dependencies: FreezeLimitDependencies) {
    this.#dependencies = dependencies;
  }

  /** Counts anew; no limit when it is zero. */
  begin(limitMs: number, agent: Pick<GuestAgent, "thaw">): void {
    const { clock, logger } = this.#dependencies;
    this.end();
    if (limitMs <= 0) return;
    this.#timer = clock.setTimer(Math.min(limitMs, longestTimerMs), () => {
      logger.warn("nobody thawed the guest's file systems in time", { limitMs });
      agent.thaw().catch((error: unknown) => logger.error("cannot thaw the guest", { error: describeError(error) }));
    });
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
