import { describeError, type Clock, type Logger } from "@polyvirt/core";

interface WorkLoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  run(key: string): Promise<void>;
}

const firstDelayMs = 50;
const maxDelayMs = 30_000;

/** Works on keys one after the other; a key that fails comes back later, each time a little later. */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #waiting = new Set<string>();
  readonly #failures = new Map<string, number>();
  #running = false;
  #stopped = false;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#waiting.add(key);
    if (!this.#running) void this.#work();
  }

  addAfter(key: string, delayMs: number): void {
    this.#options.clock.setTimer(delayMs, () => this.add(key));
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
  }

  async #work(): Promise<void> {
    this.#running = true;
    // Leave the caller first: it may be in the middle of announcing a commit.
    await Promise.resolve();
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      try {
        await this.#options.run(key);
        this.#failures.delete(key);
      } catch (error) {
        this.#retry(key, error);
      }
    }
    this.#running = false;
  }

  #retry(key: string, error: unknown): void {
    if (this.#stopped) return;
    const count = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, count);
    const { name, logger } = this.#options;
    logger.warn("background work failed and will be tried again", { work: name, key, error: describeError(error) });
    this.addAfter(key, Math.min(firstDelayMs * 2 ** count, maxDelayMs));
  }
}
