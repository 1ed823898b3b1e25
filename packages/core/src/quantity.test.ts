import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityOfBytes,
  quantityToInteger,
  quantityToMilli,
  subtractQuantities,
} from "./quantity.ts";

describe("parseQuantity and formatQuantity", () => {
  it.each([
    ["0", "0"],
    ["0Mi", "0"],
    ["-0", "0"],
    ["1", "1"],
    ["+1", "1"],
    ["100m", "100m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["0.1", "100m"],
    [".5", "500m"],
    ["1.", "1"],
    ["1.5", "1500m"],
    ["100u", "100u"],
    ["1n", "1n"],
    ["0.1n", "1n"],
    ["-1.5", "-1500m"],
    ["1000", "1k"],
    ["1k", "1k"],
    ["1024", "1024"],
    ["1Ki", "1Ki"],
    ["1024Ki", "1Mi"],
    ["1025Ki", "1025Ki"],
    ["1.5Gi", "1536Mi"],
    ["0.5Ki", "512"],
    ["1.1Ki", "1126400m"],
    ["128Mi", "128Mi"],
    ["-2Gi", "-2Gi"],
    ["1e3", "1e3"],
    ["1E3", "1e3"],
    ["12e6", "12e6"],
    ["1e2", "100"],
    ["1e-3", "1e-3"],
    ["5E", "5E"],
    ["7Ei", "7Ei"],
    ["100E", "9223372036854775807"],
  ])("%s is written %s", (text, canonical) => {
    expect(formatQuantity(parseQuantity(text))).toBe(canonical);
    expect(isQuantity(text)).toBe(true);
  });

  it.each([
    "",
    " 1",
    "1 ",
    "1mi",
    "1KB",
    "1ki",
    "Mi",
    "1e",
    "1e3Mi",
    "--1",
    "0x10",
    "1,5",
    "e3",
    ".",
    "1e999",
    "9".repeat(300),
  ])("refuses %j", (text) => {
    expect(() => parseQuantity(text)).toThrow(/^read quantity/);
    expect(isQuantity(text)).toBe(false);
  });

  it("is stable: what was written reads back as the same value and text", () => {
    const suffix = fc.constantFrom("", "m", "u", "n", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3");
    const number = fc.integer({ min: -99_999_999, max: 99_999_999 });
    fc.assert(
      fc.property(number, fc.integer({ min: 0, max: 999 }), suffix, (whole, fraction, unit) => {
        const quantity = parseQuantity(`${whole}.${fraction}${unit}`);
        const text = formatQuantity(quantity);
        expect(parseQuantity(text).nano).toBe(quantity.nano);
        expect(formatQuantity(parseQuantity(text))).toBe(text);
      }),
    );
  });
});

describe("arithmetic", () => {
  it("is exact where floating point is not", () => {
    const sum = addQuantities(parseQuantity("0.1"), parseQuantity("0.2"));
    expect(compareQuantities(sum, parseQuantity("300m"))).toBe(0);
    expect(formatQuantity(addQuantities(parseQuantity("9007199254740993"), parseQuantity("1n")))).toBe(
      "9007199254740993000000001n",
    );
  });

  it("keeps the format of the first operand that is not zero", () => {
    expect(formatQuantity(addQuantities(parseQuantity("128Mi"), parseQuantity("128000Ki")))).toBe("253Mi");
    expect(formatQuantity(addQuantities(parseQuantity("0"), parseQuantity("1Gi")))).toBe("1Gi");
    expect(formatQuantity(subtractQuantities(parseQuantity("1Gi"), parseQuantity("512Mi")))).toBe("512Mi");
  });

  it("rounds away from zero", () => {
    expect(quantityToInteger(parseQuantity("1m"))).toBe(1n);
    expect(quantityToInteger(parseQuantity("-1500m"))).toBe(-2n);
    expect(quantityToMilli(parseQuantity("100u"))).toBe(1n);
    expect(quantityToMilli(parseQuantity("2"))).toBe(2000n);
  });

  it("orders as numbers do", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
        fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
        (a, b) => {
          expect(compareQuantities(quantityOfBytes(a), parseQuantity(`${b}`))).toBe(a < b ? -1 : a > b ? 1 : 0);
        },
      ),
    );
  });
});
