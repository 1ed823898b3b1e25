import { describe, expect, it } from "vitest";
import { Deck } from "./deck.ts";
import type { Fault } from "./faults.ts";
import { Random } from "./random.ts";

const fault = (name: string): Fault => ({ name, endsGuest: false, victims: () => [] });
const faults = ["a", "b", "c", "d"].map(fault);
const draw = (deck: Deck, count: number, except = ""): string =>
  Array.from({ length: count }, () => deck.draw(({ name }) => name !== except).name).join("");

describe("Deck", () => {
  it("deals every fault once before any comes again", () => {
    const deck = new Deck(faults, new Random(1));
    for (let round = 0; round < 5; round += 1) expect(draw(deck, 4).split("").toSorted().join("")).toBe("abcd");
  });

  it("keeps what cannot come now for later, and then deals it once", () => {
    const deck = new Deck(faults, new Random(2));
    expect(draw(deck, 9, "b")).not.toContain("b");
    expect(draw(deck, 1)).toBe("b");
    expect(draw(deck, 4).split("").toSorted().join("")).toBe("abcd");
  });

  it("says when there is nothing to kill", () => {
    const deck = new Deck(faults, new Random(3));
    expect(() => deck.draw(() => false)).toThrow("there is nothing to kill");
  });
});
