export interface Backoff {
  /** The next delay: doubles from the first to the last, with up to a tenth of spread. */
  next(): number;
  reset(): void;
}

interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Between 0 and 1; replaced in tests. */
  readonly random?: () => number;
}

export function createBackoff({ initialMs, maxMs, random = Math.random }: BackoffOptions): Backoff {
  let failures = 0;
  return {
    next() {
      const delay = Math.min(initialMs * 2 ** failures, maxMs);
      failures++;
      return Math.round(delay * (1 + random() * 0.1));
    },
    reset() {
      failures = 0;
    },
  };
}
