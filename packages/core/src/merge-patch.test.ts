import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyMergePatch, createMergePatch } from "./merge-patch.ts";

describe("applyMergePatch", () => {
  // The examples of RFC 7396, appendix A.
  it.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("%j with %j becomes %j", (target, patch, expected) => {
    const before = structuredClone(target);
    expect(applyMergePatch<unknown>(target, patch)).toEqual(expected);
    expect(target).toEqual(before);
  });

  it("keeps a key called __proto__ as data", () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    expect(Object.keys(applyMergePatch({}, patch))).toEqual(["__proto__"]);
  });
});

describe("createMergePatch", () => {
  // Merge patches cannot express null, so documents with null are left out.
  const document = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("null"));

  it("leads from one document to the other", () => {
    fc.assert(
      fc.property(document, document, (from, to) => {
        const patch = createMergePatch(from, to);
        expect(patch === undefined ? from : applyMergePatch<unknown>(from, patch)).toEqual(to);
      }),
    );
  });

  it("is undefined when nothing changed", () => {
    expect(createMergePatch({ a: 1, b: { c: [1] } }, { b: { c: [1] }, a: 1, d: undefined })).toBeUndefined();
  });
});
