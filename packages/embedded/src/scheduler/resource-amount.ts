import type { Container, PodSpec, ResourceList } from "@polyvirt/api/k8s";

/** Resource name → amount in plain numbers: cpu in thousandths of a core, everything else in its own unit (bytes, pieces). */
export type Amounts = Map<string, number>;

const binary: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const decimal: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
};

/**
 * A Kubernetes quantity as a number; NaN for what is none. Scheduling compares sums of a few thousand of them, so plain
 * numbers are chosen over exact ones: they are exact up to 2^53 and the API server has validated the text.
 */
export function parseAmount(quantity: string | number): number {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i)|([eE][+-]?\d+)|([numkMGTPE]?))$/.exec(String(quantity));
  if (match === null) return Number.NaN;
  const [, digits = "", binarySuffix, exponent, decimalSuffix = ""] = match;
  if (exponent !== undefined) return Number(digits + exponent);
  const factor = binarySuffix === undefined ? decimal[decimalSuffix] : binary[binarySuffix];
  return Number(digits) * (factor ?? Number.NaN);
}

/** In thousandths for cpu, as the scheduler counts it; rounded up so that a fraction is never lost. */
export function amountOf(resource: string, quantity: string | number): number {
  const value = parseAmount(quantity);
  return resource === "cpu" ? Math.ceil(value * 1000 - 1e-9) : Math.ceil(value - 1e-9);
}

export function amountsOf(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, quantity]) => [name, amountOf(name, quantity)]));
}

/**
 * What a pod asks of a node: the containers together with the restartable init containers, or the largest init container
 * with the restartable ones started before it, whichever is more; plus the pod's overhead.
 */
export function podRequests(spec: PodSpec): Amounts {
  const total: Amounts = new Map();
  for (const container of spec.containers) add(total, requestsOf(container));
  const peak: Amounts = new Map();
  const sidecars: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    if (container.restartPolicy === "Always") {
      add(sidecars, own);
      add(total, own);
      raise(peak, sidecars);
    } else {
      const together = new Map(sidecars);
      add(together, own);
      raise(peak, together);
    }
  }
  raise(total, peak);
  add(total, amountsOf(spec.overhead));
  return total;
}

/** Limits stand in for requests that are not given, as the API server defaults them. */
export function requestsOf(container: Container): Amounts {
  return amountsOf({ ...container.resources?.limits, ...container.resources?.requests });
}

export function add(sum: Amounts, part: ReadonlyMap<string, number>): void {
  for (const [name, amount] of part) sum.set(name, (sum.get(name) ?? 0) + amount);
}

function raise(most: Amounts, candidate: ReadonlyMap<string, number>): void {
  for (const [name, amount] of candidate) most.set(name, Math.max(most.get(name) ?? 0, amount));
}
