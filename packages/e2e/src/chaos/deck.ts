import type { Fault } from "./faults.ts";
import type { Random } from "./random.ts";

/** Deals faults in random order: every one comes once before any comes again, except where it cannot come at all. */
export class Deck {
  readonly #faults: readonly Fault[];
  readonly #random: Random;
  #left: Fault[] = [];

  constructor(faults: readonly Fault[], random: Random) {
    this.#faults = faults;
    this.#random = random;
  }

  /** The next one that can come now; those that cannot keep their place for later. */
  draw(isPossible: (fault: Fault) => boolean): Fault {
    if (!this.#left.some(isPossible))
      this.#left.push(...this.#random.shuffle(this.#faults.filter((fault) => !this.#left.includes(fault))));
    const next = this.#left.find(isPossible);
    if (next === undefined) throw new Error("there is nothing to kill");
    this.#left = this.#left.filter((fault) => fault !== next);
    return next;
  }
}
