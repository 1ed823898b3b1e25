import { describe, expect, it } from "vitest";
import { JsonLines } from "./json-lines.ts";

describe("JsonLines", () => {
  it("joins values that arrive in pieces and splits those that arrive together", () => {
    const lines = new JsonLines(100);
    expect(lines.push(Buffer.from('{"a":'))).toEqual([]);
    expect(lines.push(Buffer.from('1}\r\n\n{"b":2}\n{"c"'))).toEqual([{ a: 1 }, { b: 2 }]);
    expect(lines.push(Buffer.from(":3}\n"))).toEqual([{ c: 3 }]);
  });

  it("keeps characters that a chunk boundary splits", () => {
    const bytes = Buffer.from('"ü"\n');
    const lines = new JsonLines(100);
    expect(lines.push(bytes.subarray(0, 2))).toEqual([]);
    expect(lines.push(bytes.subarray(2))).toEqual(["ü"]);
  });

  it("refuses a line above the limit before it ends", () => {
    const lines = new JsonLines(10);
    lines.push(Buffer.from("12345"));
    expect(() => lines.push(Buffer.from("1234567"))).toThrow("longer than 10 bytes");
  });

  it("refuses what is not JSON", () => {
    expect(() => new JsonLines(10).push(Buffer.from("hello\n"))).toThrow(SyntaxError);
  });
});
