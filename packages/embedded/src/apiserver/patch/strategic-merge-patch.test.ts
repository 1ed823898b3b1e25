import { describe, expect, it } from "vitest";

import { definition } from "../schema/schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const podSpec = definition("io.k8s.api.core.v1.PodSpec");
const patch = (target: object, change: object) => applyStrategicMergePatch(target, change, podSpec);
const containers = (...names: string[]) => ({ containers: names.map((name) => ({ name, image: name })) });

describe("strategic merge patch", () => {
  it.each<[string, object, object, object]>([
    [
      "merges list items by their key, new ones first",
      containers("a"),
      { containers: [{ name: "b", image: "b" }] },
      containers("b", "a"),
    ],
    [
      "changes one item and keeps the place of the others",
      containers("a", "b", "c"),
      { containers: [{ name: "b", image: "x" }] },
      {
        containers: [
          { name: "a", image: "a" },
          { name: "b", image: "x" },
          { name: "c", image: "c" },
        ],
      },
    ],
    [
      "deletes an item by directive",
      containers("a", "b"),
      { containers: [{ name: "a", $patch: "delete" }] },
      containers("b"),
    ],
    [
      "replaces a list by directive",
      containers("a", "b"),
      { containers: [{ $patch: "replace" }, { name: "z" }] },
      { containers: [{ name: "z" }] },
    ],
    [
      "follows the given order",
      containers("a", "b", "c"),
      { "$setElementOrder/containers": [{ name: "c" }, { name: "b" }, { name: "a" }] },
      containers("c", "b", "a"),
    ],
    [
      "replaces lists without a merge key",
      { containers: [{ name: "a", args: ["1", "2"] }] },
      { containers: [{ name: "a", args: ["3"] }] },
      { containers: [{ name: "a", args: ["3"] }] },
    ],
    [
      "merges maps and removes by null",
      { nodeSelector: { a: "1", b: "2" } },
      { nodeSelector: { a: null, c: "3" } },
      { nodeSelector: { b: "2", c: "3" } },
    ],
    [
      "replaces a map by directive",
      { nodeSelector: { a: "1" } },
      { nodeSelector: { $patch: "replace", c: "3" } },
      { nodeSelector: { c: "3" } },
    ],
    [
      "keeps only some keys of a union",
      { volumes: [{ name: "v", emptyDir: {} }] },
      { volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/x" } }] },
      { volumes: [{ name: "v", hostPath: { path: "/x" } }] },
    ],
  ])("%s", (_what, target, change, expected) => {
    expect(patch(target, change)).toEqual(expected);
  });

  it("removes members of a list of texts", () => {
    const meta = definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    const result = applyStrategicMergePatch(
      { finalizers: ["a", "b"] },
      { "$deleteFromPrimitiveList/finalizers": ["a"], finalizers: ["c"] },
      meta,
    );
    expect(result).toEqual({ finalizers: ["c", "b"] });
  });

  it("needs the merge key in every item", () => {
    expect(() => patch(containers("a"), { containers: [{ image: "x" }] })).toThrow(
      /does not contain declared merge key: name/,
    );
  });
});
