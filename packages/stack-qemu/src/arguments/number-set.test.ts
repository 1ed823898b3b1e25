import { describe, expect, it } from "vitest";
import { numberRanges, parseNumberSet } from "./number-set.ts";

describe("lists of numbers", () => {
  it.each<[string, readonly number[] | undefined]>([
    ["0", [0]],
    ["0-2,7", [0, 1, 2, 7]],
    ["0-3,^1", [0, 2, 3]],
    ["3,1,2", [1, 2, 3]],
    ["", undefined],
    ["0,^0", undefined],
    ["a", undefined],
    ["1-", undefined],
    ["0-999999", undefined],
  ])("%s", (text, expected) => {
    expect(parseNumberSet(text)).toEqual(expected);
  });

  it("are written as ranges", () => {
    expect(numberRanges([0, 1, 2, 5, 7, 8])).toEqual(["0-2", "5", "7-8"]);
  });
});
