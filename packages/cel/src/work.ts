/**
 * A second meter beside cost. Kubernetes prices some operations at a flat rate that are not flat here (joining lists,
 * comparing deep structures, counting the keys of an object). Each of them spends from this budget, so that no cheap
 * expression can run for long or fill the memory. Evaluation is synchronous, so one budget at a time is enough.
 */
export class WorkExceeded extends Error {}

const budgetPerEvaluation = 20_000_000;

let remaining = budgetPerEvaluation;

export function spend(units: number): void {
  remaining -= units;
  if (remaining < 0) throw new WorkExceeded("the expression does too much work");
}

/** Runs with a fresh budget; an evaluation inside another one has its own. */
export function startWork(): number {
  const previous = remaining;
  remaining = budgetPerEvaluation;
  return previous;
}

export function endWork(previous: number): void {
  remaining = previous;
}
