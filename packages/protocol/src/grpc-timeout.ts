const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };
const maxDigits = 99_999_999;

/** The header `grpc-timeout`, in milliseconds; undefined when the caller sets no limit. */
export function parseTimeout(header: unknown): number | undefined {
  const parts = typeof header === "string" ? /^(\d{1,8})([HMSmun])$/.exec(header) : null;
  const factor = unitMs[parts?.[2] ?? ""];
  return factor === undefined ? undefined : Math.ceil(Number(parts?.[1]) * factor);
}

export function formatTimeout(milliseconds: number): string {
  return `${Math.min(Math.max(1, Math.ceil(milliseconds)), maxDigits)}m`;
}
