import { PolyvirtError, describeError, type Clock, type Logger } from "@polyvirt/core";
import { createWorkQueue, type WorkQueueOptions } from "./work-queue.ts";

/** Nothing more to do until something changes, or look again after a while. Waiting is a result, not an error. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

export interface ControllerOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many keys may be worked on at the same time. */
  readonly workers?: number;
  readonly backoff?: Omit<WorkQueueOptions, "clock">;
  /**
   * Brings one object closer to what is wanted. Returns to wait, throws to be called again with back-off; an error whose
   * `retry` is false is recorded and not tried again until the object changes.
   */
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | void>;
  /** Told about errors that are not retried, so that they can become an event or a condition. */
  onTerminalError?(key: string, error: unknown): void | Promise<void>;
}

export interface Controller {
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  enqueue(key: string): void;
  enqueueAfter(key: string, delayMs: number): void;
  /** Works until the signal is aborted and what was begun has ended. */
  run(signal: AbortSignal): Promise<void>;
}

const LOOP_LIMIT = 1;

export function createController(options: ControllerOptions): Controller {
  const { clock, logger } = options;
  const queue = createWorkQueue({ clock, ...options.backoff });

  const work = async (key: string, signal: AbortSignal): Promise<void> => {
    try {
      const result = await options.reconcile(key, signal);
      queue.forget(key);
      if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs);
    } catch (error) {
      if (signal.aborted) return;
      const log = logger.with({ controller: options.name, key });
      if (isTerminal(error)) {
        queue.forget(key);
        log.error("reconciling failed for good", { error: describeError(error) });
        await options.onTerminalError?.(key, error);
        return;
      }
      queue.addRateLimited(key);
      // Conflicts are the normal end of a race: the newer object is on its way.
      const level = isConflict(error) || queue.failures(key) <= LOOP_LIMIT ? "debug" : "warn";
      log[level]("reconciling failed and will be tried again", {
        error: describeError(error),
        failures: queue.failures(key),
      });
    }
  };

  const loop = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const key = await queue.take();
      if (key === undefined) return;
      try {
        await work(key, signal);
      } catch (error) {
        logger.error("a controller's error handler failed", { controller: options.name, key, error });
      } finally {
        queue.done(key);
      }
    }
  };

  return {
    enqueue: (key) => queue.add(key),
    enqueueAfter: (key, delayMs) => queue.addAfter(key, delayMs),
    async run(signal) {
      const stop = () => queue.shutDown();
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      await Promise.all(Array.from({ length: options.workers ?? 4 }, () => loop(signal)));
    },
  };
}

function isTerminal(error: unknown): boolean {
  if (error instanceof PolyvirtError) return !error.retry;
  // Errors of another copy of the class are recognised by shape.
  return error instanceof Error && "retry" in error && error.retry === false;
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "KubeConflict";
}
