/** One number of a benchmark. Where it has a budget, `within` says whether it was kept. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: "ms" | "KiB" | "MiB" | "ratio" | "per second" | "count";
  /** The promise, in the same unit: the value must not exceed it (or, for "at least", not fall below). */
  readonly budget?: { readonly atMost: number } | { readonly atLeast: number };
}

/** A benchmark measures a thing and its yardstick (the bare tool, or a peer) in one run, and reports the ratio. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  run(report: (measurement: Measurement) => void): Promise<void>;
}

export function isWithinBudget({ value, budget }: Measurement): boolean | undefined {
  if (budget === undefined) return undefined;
  return "atMost" in budget ? value <= budget.atMost : value >= budget.atLeast;
}

/** The value below which the given share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
