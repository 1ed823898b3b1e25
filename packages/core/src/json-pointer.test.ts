import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPointer, parsePointer, resolvePointer } from "./json-pointer.ts";

describe("JSON pointers", () => {
  // The examples of RFC 6901, section 5.
  const document = { foo: ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, " ": 7, "m~n": 8 };
  it.each([
    ["", document],
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/ ", 7],
    ["/m~0n", 8],
    ["/missing", undefined],
    ["/foo/2", undefined],
    ["/foo/01", undefined],
    ["/foo/-", undefined],
    ["/toString", undefined],
  ])("%j finds its value", (pointer, expected) => expect(resolvePointer(document, pointer)).toEqual(expected));

  it.each(["a", "#/a", "/~", "/~2"])("refuses %j", (text) => expect(() => parsePointer(text)).toThrow(/JSON pointer/));

  it("reads what it writes", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (parts) => {
        expect(parsePointer(formatPointer(parts))).toEqual(parts);
      }),
    );
  });
});
