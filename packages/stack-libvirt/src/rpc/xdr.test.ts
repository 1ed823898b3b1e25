import { describe, expect, it } from "vitest";
import { readParameters, typedParameters, type TypedParameter } from "./typed-parameter.ts";
import { decode, encode, hyper, int, list, optional, struct, text, uint } from "./xdr.ts";

describe("XDR", () => {
  const layout = struct({ name: text, note: optional(text), ids: list(int), size: hyper });

  it("fills up to whole words, and says what is absent", () => {
    const bytes = encode(layout, { name: "abcde", note: undefined, ids: [1, -1], size: 2n });
    expect(bytes.toString("hex")).toBe("000000056162636465000000000000000000000200000001ffffffff0000000000000002");
    expect(decode(layout, bytes)).toEqual({ name: "abcde", note: undefined, ids: [1, -1], size: 2n });
  });

  it("grows with what is written", () => {
    const name = "x".repeat(5_000);
    expect(decode(text, encode(text, name))).toBe(name);
  });

  it.each([
    ["ends too early", "00000005616263"],
    ["claims more than can be", "7fffffff00000000"],
  ])("refuses a text that %s", (_, hex) => {
    expect(() => decode(text, Buffer.from(hex, "hex"))).toThrow(RangeError);
  });

  it("carries parameters of every type", () => {
    const parameters: TypedParameter[] = [
      { field: "i", type: "int", value: -3 },
      { field: "u", type: "uint", value: 3 },
      { field: "l", type: "llong", value: -4n },
      { field: "ul", type: "ullong", value: 4n },
      { field: "d", type: "double", value: 0.5 },
      { field: "b", type: "boolean", value: true },
      { field: "s", type: "string", value: "text" },
    ];
    const read = decode(typedParameters, encode(typedParameters, parameters));
    expect(read).toEqual(parameters);
    expect(Object.fromEntries(readParameters(read))).toEqual({ i: -3, u: 3, l: -4, ul: 4, d: 0.5, b: true, s: "text" });
  });

  it("refuses a parameter of a type that it does not know", () => {
    const bytes = Buffer.concat([encode(uint, 1), encode(text, "new"), encode(int, 99)]);
    expect(() => decode(typedParameters, bytes)).toThrow(/unknown parameter type 99/);
  });
});
