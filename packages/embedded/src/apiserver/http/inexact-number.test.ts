import { describe, expect, it } from "vitest";

import { inexactNumber } from "./inexact-number.ts";

describe("inexact numbers", () => {
  it.each([
    ['{"a":9007199254740993}', "9007199254740993"],
    ["[1,-9007199254740995]", "-9007199254740995"],
    ['{"a":9007199254740992}', undefined],
    ['{"a":"9007199254740993"}', undefined],
    ['{"a\\"9007199254740993":1}', undefined],
    ['{"a":99999999999999999999}', undefined],
    ['{"a":1234567890123456.5}', undefined],
    ['{"a":12}', undefined],
  ])("finds in %s %s", (text, found) => {
    expect(inexactNumber(text)).toBe(found);
  });
});
