import { expect, it } from "vitest";

import { compileJsonPath } from "./json-path.ts";

const object = {
  metadata: { name: "x", labels: { "a.b/c": "dotted" } },
  spec: {
    list: [1, 2, 3],
    items: [
      { name: "one", value: 1 },
      { name: "two", value: 2 },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Paused", status: "False" },
    ],
  },
};

it.each([
  [".metadata.name", ["x"]],
  ["metadata.name", ["x"]],
  [".spec.list[1]", [2]],
  [".spec.list[-1]", [3]],
  [".spec.list[*]", [1, 2, 3]],
  [".spec.items[*].name", ["one", "two"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type == 'Paused')].status", ["False"]],
  [".spec.items[?(@.value!=1)].name", ["two"]],
  [".metadata.labels['a.b/c']", ["dotted"]],
  [".metadata.labels.a\\.b/c", ["dotted"]],
  [".nothing.here", []],
  [".metadata[?(", []],
])("%s", (path, expected) => {
  expect(compileJsonPath(path)(object)).toEqual(expected);
});
