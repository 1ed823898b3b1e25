import { describe, expect, it } from "vitest";

import type { JsonObject } from "../json.ts";
import type { Schema } from "./schema.ts";
import { applySchemaDefaults, pruneUnknown } from "./structural.ts";
import { validateValue } from "./validate.ts";

const prune = (value: JsonObject, schema: Schema) => {
  const unknown: string[] = [];
  pruneUnknown(value, schema, (path) => unknown.push(path));
  return { value, unknown };
};

describe("pruning", () => {
  it("removes what the schema does not know, except where it says to keep it", () => {
    const schema: Schema = {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            a: { type: "string" },
            list: { type: "array", items: { type: "object", properties: { n: {} } } },
          },
        },
        open: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "object", properties: {} } },
        },
        map: { type: "object", additionalProperties: { type: "object", properties: { v: {} } } },
        embedded: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
      },
    };
    const { value, unknown } = prune(
      {
        apiVersion: "v1",
        kind: "K",
        metadata: { name: "n" },
        extra: 1,
        spec: { a: "x", b: 1, list: [{ n: 1, m: 2 }] },
        open: { anything: { goes: true }, known: { not: "this" } },
        map: { k: { v: 1, w: 2 } },
        embedded: { apiVersion: "v1", kind: "Pod", metadata: {}, other: 1 },
      },
      schema,
    );
    expect(value).toEqual({
      apiVersion: "v1",
      kind: "K",
      metadata: { name: "n" },
      spec: { a: "x", list: [{ n: 1 }] },
      open: { anything: { goes: true }, known: {} },
      map: { k: { v: 1 } },
      embedded: { apiVersion: "v1", kind: "Pod", metadata: {} },
    });
    expect(unknown).toEqual(["extra", "spec.b", "spec.list[0].m", "open.known.not", "map.k.w", "embedded.other"]);
  });
});

describe("defaults", () => {
  it("fill what is absent or a null that may not be, inside out of defaults too", () => {
    const schema: Schema = {
      type: "object",
      properties: {
        a: { type: "string", default: "x" },
        n: { type: "string", nullable: true, default: "x" },
        nested: { type: "object", default: {}, properties: { b: { type: "integer", default: 3 } } },
        absent: { type: "object", properties: { b: { type: "integer", default: 3 } } },
        list: { type: "array", items: { type: "object", properties: { c: { type: "boolean", default: true } } } },
      },
    };
    const value: JsonObject = { a: null, n: null, list: [{}, { c: false }] };
    applySchemaDefaults(value, schema);
    expect(value).toEqual({ a: "x", n: null, nested: { b: 3 }, list: [{ c: true }, { c: false }] });
  });

  it("do not share one value between objects", () => {
    const schema: Schema = { type: "object", properties: { list: { type: "array", default: [1] } } };
    const one: JsonObject = {};
    const other: JsonObject = {};
    applySchemaDefaults(one, schema);
    applySchemaDefaults(other, schema);
    (one["list"] as number[]).push(2);
    expect(other).toEqual({ list: [1] });
  });
});

describe("validation", () => {
  it.each<[string, unknown, Schema, string[]]>([
    ["type", "x", { type: "integer" }, ['Invalid value: "string": f in body must be of type integer: "string"']],
    ["integers as numbers", 1, { type: "number" }, []],
    [
      "int or string",
      1.5,
      { "x-kubernetes-int-or-string": true },
      ['Invalid value: "number": f in body must be of type integer,string: "number"'],
    ],
    ["null", null, { type: "string" }, ['Invalid value: "null": f in body must be of type string: "null"']],
    ["nullable", null, { type: "string", nullable: true }, []],
    ["enum", "c", { type: "string", enum: ["a", "b"] }, ['Unsupported value: "c": supported values: "a", "b"']],
    [
      "pattern",
      "A",
      { type: "string", pattern: "^[a-z]+$" },
      ["Invalid value: \"A\": f in body should match '^[a-z]+$'"],
    ],
    ["length", "abc", { type: "string", maxLength: 2 }, ["Too long: may not be more than 2 bytes"]],
    ["short", "", { type: "string", minLength: 1 }, ['Invalid value: "": f in body should be at least 1 chars long']],
    [
      "minimum",
      0,
      { type: "integer", minimum: 1 },
      ["Invalid value: 0: f in body should be greater than or equal to 1"],
    ],
    [
      "exclusive",
      1,
      { type: "integer", maximum: 1, exclusiveMaximum: true },
      ["Invalid value: 1: f in body should be less than 1"],
    ],
    [
      "items",
      [1],
      { type: "array", minItems: 2, items: { type: "integer" } },
      ["Invalid value: 1: f in body should have at least 2 items"],
    ],
    [
      "set",
      ["a", "a"],
      { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      ['Duplicate value: "a"'],
    ],
    [
      "format",
      "nope",
      { type: "string", format: "ipv4" },
      ['Invalid value: "nope": f in body must be of type ipv4: "nope"'],
    ],
    ["unknown format", "x", { type: "string", format: "whatever" }, []],
    [
      "oneOf",
      5,
      { type: "integer", oneOf: [{ minimum: 1 }, { minimum: 2 }] },
      ['Invalid value: 5: "f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      "anyOf",
      0,
      { type: "integer", anyOf: [{ minimum: 1 }, { minimum: 2 }] },
      ['Invalid value: 0: "f" must validate at least one schema (anyOf)'],
    ],
    ["not", 1, { type: "integer", not: { enum: [1] } }, ['Invalid value: 1: "f" must not validate the schema (not)']],
  ])("%s", (_what, value, schema, expected) => {
    expect(validateValue(value, schema, "f").map(({ message }) => message)).toEqual(expected);
  });

  it("names the place of a missing or wrong field", () => {
    const schema: Schema = {
      type: "object",
      properties: {
        list: {
          type: "array",
          items: { type: "object", required: ["name"], properties: { size: { type: "integer" } } },
        },
      },
    };
    const found = validateValue({ list: [{ name: "a" }, { size: "x" }] }, schema, "spec");
    expect(found.map(({ field }) => field)).toEqual(["spec.list[1].name", "spec.list[1].size"]);
  });

  it("is not led astray by names from the prototype", () => {
    const schema: Schema = { type: "object", required: ["constructor"], properties: { toString: { type: "integer" } } };
    expect(validateValue({}, schema, "f").map(({ field }) => field)).toEqual(["f.constructor"]);
    expect(prune(JSON.parse('{"__proto__":{"x":1},"hasOwnProperty":1}') as JsonObject, schema).unknown).toEqual([
      "__proto__",
      "hasOwnProperty",
    ]);
  });
});
