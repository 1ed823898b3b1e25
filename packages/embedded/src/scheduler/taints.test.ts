import type { Taint, Toleration } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { toleratedSeconds, tolerates } from "./taints.ts";

const taint = { key: "k", value: "v", effect: "NoSchedule" } as const;

describe("tolerates", () => {
  const cases: [string, Toleration[], boolean][] = [
    ["nothing", [], false],
    ["equal value", [{ key: "k", value: "v" }], true],
    ["another value", [{ key: "k", value: "w" }], false],
    ["exists", [{ key: "k", operator: "Exists" }], true],
    ["another key", [{ key: "x", operator: "Exists" }], false],
    ["another effect", [{ key: "k", operator: "Exists", effect: "NoExecute" }], false],
    ["the same effect", [{ key: "k", operator: "Exists", effect: "NoSchedule" }], true],
    ["everything", [{ operator: "Exists" }], true],
    ["an empty key with Equal is nothing", [{ value: "v" }], false],
  ];
  it.each(cases)("%s", (_name, tolerations, expected) => {
    expect(tolerates(tolerations, taint)).toBe(expected);
  });
});

describe("toleratedSeconds", () => {
  const noExecute: Taint = { key: "k", effect: "NoExecute" };
  const cases: [string, Toleration[], Taint[], number | undefined][] = [
    ["no taint: for ever", [], [], undefined],
    ["only NoSchedule: for ever", [], [taint], undefined],
    ["untolerated: not at all", [], [noExecute], 0],
    ["tolerated without limit: for ever", [{ key: "k", operator: "Exists" }], [noExecute], undefined],
    ["tolerated for a while", [{ key: "k", operator: "Exists", tolerationSeconds: 5 }], [noExecute], 5],
    [
      "the shortest of several",
      [
        { key: "k", operator: "Exists", tolerationSeconds: 5 },
        { key: "l", operator: "Exists", tolerationSeconds: 2 },
      ],
      [noExecute, { key: "l", effect: "NoExecute" }],
      2,
    ],
  ];
  it.each(cases)("%s", (_name, tolerations, taints, expected) => {
    expect(toleratedSeconds(tolerations, taints)).toBe(expected);
  });
});
