/**
 * Least and most of a size or a cost. Infinity stands for what nothing bounds (Kubernetes has its largest integer there).
 */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export const exactly = (value: number): Bounds => ({ min: value, max: value });
export const unbounded: Bounds = { min: 0, max: Number.POSITIVE_INFINITY };
export const nothing: Bounds = exactly(0);

export function plus(...parts: readonly Bounds[]): Bounds {
  return parts.reduce((sum, part) => ({ min: sum.min + part.min, max: sum.max + part.max }), nothing);
}

/** 0 times anything is 0, also 0 times infinity. */
const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);

export function times(a: Bounds, b: Bounds): Bounds {
  return { min: product(a.min, b.min), max: product(a.max, b.max) };
}

/** Multiplies by a price, rounded up as costs are. */
export function priced(size: Bounds, price: number): Bounds {
  return { min: Math.ceil(product(size.min, price)), max: Math.ceil(product(size.max, price)) };
}

/** What covers both. */
export function union(a: Bounds, b: Bounds): Bounds {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}
