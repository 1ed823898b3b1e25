import type { Value } from "./values.ts";

/** Thrown when an evaluation costs more than it may; only the program catches it. */
export class CostExceeded extends Error {}

/** The state of one evaluation. */
export class Frame {
  cost = 0;
  limit = 0;
  /** Variables, then the locals of macros; a slot that is undefined has no value. */
  readonly slots: (Value | undefined)[] = [];

  constructor(slotCount: number) {
    for (let slot = 0; slot < slotCount; slot += 1) this.slots.push(undefined);
  }
}

/** Called where cost can grow without bound: once per round of a loop and after each call. */
export function checkCost(frame: Frame): void {
  if (frame.cost > frame.limit) throw new CostExceeded("operation cancelled: actual cost limit exceeded");
}

export type Evaluate = (frame: Frame) => Value;
