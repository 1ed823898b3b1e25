import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffJson } from "./json-diff.ts";
import { applyJsonPatch, type JsonPatchOperation } from "./json-patch.ts";

interface Vector {
  doc: unknown;
  patch: JsonPatchOperation[];
  expected?: unknown;
  error?: string;
  comment?: string;
  disabled?: boolean;
}

const require = createRequire(import.meta.url);
const files = {
  tests: require.resolve("json-patch-test-suite/tests.json"),
  spec: require.resolve("json-patch-test-suite/spec_tests.json"),
};
const vectors = Object.entries(files).flatMap(([file, path]) => {
  return (JSON.parse(readFileSync(path, "utf8")) as Vector[]).map((vector, index) => ({ ...vector, file, index }));
});
const active = vectors.filter((vector) => vector.disabled !== true && vector.patch !== undefined);

describe("the vectors of json-patch-test-suite", () => {
  it("are all here", () => expect(active).toHaveLength(91));

  it.each(
    active.filter(({ error }) => error !== undefined).map((v) => [`${v.file} ${v.index}: ${v.error}`, v] as const),
  )("refuses %s", (_name, { doc, patch }) => {
    const before = structuredClone(doc);
    expect(() => applyJsonPatch(doc, patch)).toThrow(/JSON p(atch|ointer)/);
    expect(doc).toEqual(before);
  });

  it.each(
    active.filter(({ error }) => error === undefined).map((v) => [`${v.file} ${v.index}: ${v.comment}`, v] as const),
  )("applies %s", (_name, { doc, patch, expected }) => {
    const before = structuredClone(doc);
    const result = applyJsonPatch(doc, patch);
    // Vectors without an expectation only say that the patch fits.
    expect(result).toEqual(expected === undefined ? result : expected);
    expect(doc).toEqual(before);
  });
});

describe("applyJsonPatch", () => {
  it("keeps a key called __proto__ as data", () => {
    const result = applyJsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]);
    expect(Object.keys(result)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("does not share memory with the patch", () => {
    const value = { a: 1 };
    const result = applyJsonPatch<{ x?: { a: number } }>({}, [{ op: "add", path: "/x", value }]);
    value.a = 2;
    expect(result).toEqual({ x: { a: 1 } });
  });

  it("stops a patch that grows by copying copies", () => {
    const patch: JsonPatchOperation[] = Array.from({ length: 40 }, () => ({ op: "copy", from: "", path: "/a/-" }));
    expect(() => applyJsonPatch({ a: [1, 2, 3] }, patch)).toThrow(/too large/);
  });

  it("names the operation and the place", () => {
    expect(() => applyJsonPatch({ a: [] }, [{ op: "remove", path: "/a/1" }])).toThrow(
      'apply JSON patch, operation 0 (remove): "/a/1" is beyond the end of the list (0)',
    );
  });
});

const keyedList = fc.uniqueArray(fc.record({ name: fc.string({ maxLength: 3 }), value: fc.jsonValue() }), {
  selector: ({ name }) => name,
});

describe("diffJson", () => {
  it("gives a patch that leads from one document to the other", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
        expect(applyJsonPatch<unknown>(from, diffJson(from, to))).toEqual(to);
      }),
    );
  });

  it("does so for keyed lists, too", () => {
    fc.assert(
      fc.property(keyedList, keyedList, (from, to) => {
        const patch = diffJson({ list: from }, { list: to }, { listKey: () => "name" });
        expect(applyJsonPatch<unknown>({ list: from }, patch)).toEqual({ list: to });
      }),
    );
  });

  it("says nothing when nothing changed", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(diffJson(value, structuredClone(value))).toEqual([]);
      }),
    );
  });

  const listKey = (path: string) =>
    path === "/spec/containers" || path === "/spec/containers/*/env" ? "name" : undefined;

  it("removes one element of a keyed list with one operation", () => {
    const from = {
      spec: { containers: [{ name: "a" }, { name: "b" }, { name: "c", env: [{ name: "X", value: "1" }] }] },
    };
    const to = { spec: { containers: [{ name: "b" }, { name: "c", env: [{ name: "X", value: "2" }] }] } };
    expect(diffJson(from, to, { listKey })).toEqual([
      { op: "remove", path: "/spec/containers/0" },
      { op: "replace", path: "/spec/containers/1/env/0/value", value: "2" },
    ]);
  });

  it("moves elements instead of writing them again", () => {
    const from = { spec: { containers: [{ name: "a" }, { name: "b" }] } };
    const to = { spec: { containers: [{ name: "b" }, { name: "a" }] } };
    expect(diffJson(from, to, { listKey })).toEqual([
      { op: "move", from: "/spec/containers/1", path: "/spec/containers/0" },
    ]);
  });

  it("falls back to positions when keys repeat or are missing", () => {
    const from = { spec: { containers: [{ name: "a" }, { name: "a", x: 1 }] } };
    const to = { spec: { containers: [{ name: "a" }, { x: 2 }] } };
    expect(applyJsonPatch<unknown>(from, diffJson(from, to, { listKey }))).toEqual(to);
  });
});
