import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration, parseDurationNanoseconds } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["0", 0],
    ["30s", 30_000],
    ["1h15m30.918s", 4_530_918],
    ["300ms", 300],
    ["1.5h", 5_400_000],
    ["-2m", -120_000],
    ["+1s", 1000],
    ["1us", 0.001],
    ["1µs", 0.001],
    [".5s", 500],
  ])("%s is %d ms", (text, milliseconds) => expect(parseDuration(text)).toBe(milliseconds));

  it.each(["", "s", "30", "1 s", "1d", "1s ", "--1s", ".s", "9999999999h"])("refuses %j", (text) =>
    expect(() => parseDuration(text)).toThrow(/^read duration/),
  );
});

describe("formatDuration", () => {
  it.each([
    [0n, "0s"],
    [1n, "1ns"],
    [1500n, "1.5µs"],
    [300_000_000n, "300ms"],
    [30_000_000_000n, "30s"],
    [90_000_000_000n, "1m30s"],
    [3_600_000_000_000n, "1h0m0s"],
    [-4_530_918_000_000n, "-1h15m30.918s"],
  ])("writes %d as %s", (nanoseconds, text) => expect(formatDuration(nanoseconds)).toBe(text));

  it("reads back what it wrote", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (value) => {
        expect(parseDurationNanoseconds(formatDuration(value))).toBe(value);
      }),
    );
  });
});
