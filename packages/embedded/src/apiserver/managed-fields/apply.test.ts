import { describe, expect, it } from "vitest";

import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "../registry/resource.ts";
import type { Schema } from "../schema/schema.ts";
import { applyConfiguration } from "./apply.ts";
import { trackUpdate } from "./track-update.ts";

const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        labels: { type: "object", additionalProperties: { type: "string" } },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        order: { type: "array", items: { type: "string" } },
        selector: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: { type: "string" } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: {
              port: { type: "integer" },
              protocol: { type: "string", default: "TCP" },
              name: { type: "string" },
            },
          },
        },
      },
    },
  },
};
// Only these parts of a resource matter to field ownership.
const resource = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  typed: false,
  schema,
  subresources: new Set(["status"]),
} as unknown as Resource;

const object = (spec: object): ApiObject => ({
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "t" },
  spec,
});
const apply = (live: ApiObject, manager: string, spec: object, force = false) =>
  applyConfiguration({
    resource,
    live,
    applied: object(spec),
    manager,
    force,
    now: "2026-01-01T00:00:00Z",
    subresource: "",
  });
const owners = (live: ApiObject) =>
  Object.fromEntries(
    (live.metadata.managedFields ?? []).map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]),
  );

describe("server-side apply", () => {
  it("owns what it applied and removes what it no longer applies", () => {
    const first = apply(object({}), "a", { size: 1, labels: { x: "1", y: "2" } });
    expect(first["spec"]).toEqual({ size: 1, labels: { x: "1", y: "2" } });
    expect(owners(first)).toEqual({ "a Apply": { "f:spec": { "f:labels": { "f:x": {}, "f:y": {} }, "f:size": {} } } });
    expect(apply(first, "a", { labels: { x: "1" } })["spec"]).toEqual({ labels: { x: "1" } });
  });

  it("keeps what another manager also applied", () => {
    const both = apply(apply(object({}), "a", { labels: { x: "1", y: "2" } }), "b", { labels: { x: "1" } });
    expect(apply(both, "a", {})["spec"]).toEqual({ labels: { x: "1" } });
  });

  it("reports a conflict with its owner and place, unless forced", () => {
    const live = apply(object({}), "a", { size: 1, ports: [{ port: 80, name: "web" }] });
    expect(() => apply(live, "b", { size: 2 })).toThrow('Apply failed with 1 conflict: conflict with "a": .spec.size');
    expect(() => apply(live, "b", { size: 2, ports: [{ port: 80, name: "other" }] })).toThrow(
      'Apply failed with 2 conflicts: conflicts with "a":\n- .spec.size\n- .spec.ports[port=80,protocol="TCP"].name',
    );
    const forced = apply(live, "b", { size: 2 }, true);
    expect(forced["spec"]).toMatchObject({ size: 2 });
    expect(owners(forced)["a Apply"]).not.toHaveProperty(["f:spec", "f:size"]);
  });

  it("shares ownership when both say the same", () => {
    const live = apply(apply(object({}), "a", { size: 1 }), "b", { size: 1 });
    expect(Object.keys(owners(live))).toEqual(["a Apply", "b Apply"]);
  });

  it.each([
    [
      "items by key, with defaults for absent keys",
      { ports: [{ port: 80, name: "x" }] },
      { ports: [{ port: 443 }] },
      { ports: [{ port: 80, name: "x" }, { port: 443 }] },
    ],
    ["members of a set", { tags: ["a", "b"] }, { tags: ["c"] }, { tags: ["a", "b", "c"] }],
  ])("merges %s", (_what, before, applied, expected) => {
    expect(apply(apply(object({}), "a", before), "b", applied)["spec"]).toEqual(expected);
  });

  it.each([
    ["a plain list", { order: ["a"] }, { order: ["b", "c"] }, { order: ["b", "c"] }],
    ["an atomic map", { selector: { a: "1" } }, { selector: { b: "2" } }, { selector: { b: "2" } }],
  ])("replaces %s as a whole", (_what, before, applied, expected) => {
    expect(apply(apply(object({}), "a", before), "a", applied)["spec"]).toEqual(expected);
  });

  it("removes only its part of an item that others hold too", () => {
    const one = apply(object({}), "a", { ports: [{ port: 80, name: "web" }] });
    const two = apply(one, "b", { ports: [{ port: 80 }] });
    expect(apply(two, "a", {})["spec"]).toEqual({ ports: [{ port: 80 }] });
  });
});

describe("plain writes", () => {
  const update = (old: ApiObject | undefined, next: ApiObject, manager: string) => {
    trackUpdate({ resource, old, object: next, manager, now: "2026-01-01T00:00:00Z", subresource: "" });
    return next;
  };

  it("give the writer what it changed and take it from others", () => {
    const live = apply(object({}), "a", { size: 1, labels: { x: "1" } });
    const next = update(
      live,
      { ...object({ size: 2, labels: { x: "1" } }), metadata: { ...live.metadata } },
      "kubectl",
    );
    expect(owners(next)).toEqual({
      "a Apply": { "f:spec": { "f:labels": { "f:x": {} } } },
      "kubectl Update": { "f:spec": { "f:size": {} } },
    });
  });

  it("forget owners of what is removed, and all of them when asked to", () => {
    const live = update(undefined, object({ size: 1, labels: { x: "1" } }), "m");
    const next = update(live, { ...object({ size: 1 }), metadata: { ...live.metadata } }, "m");
    expect(owners(next)).toEqual({ "m Update": { "f:spec": { ".": {}, "f:size": {} } } });
    const reset = update(next, { ...object({ size: 1 }), metadata: { name: "t", managedFields: [{}] } }, "m");
    expect(reset.metadata.managedFields).toBeUndefined();
  });
});
