import { describe, expect, it } from "vitest";
import { getCondition, isConditionTrue, withCondition, withoutCondition } from "./conditions.ts";

const ready = { type: "Ready", status: "True" } as const;

describe("withCondition", () => {
  it("adds a condition with its transition time", () => {
    expect(withCondition(undefined, ready, "t1")).toEqual([{ ...ready, lastTransitionTime: "t1" }]);
  });

  it("keeps the transition time while the status stays, so that equal news give an equal list", () => {
    const first = withCondition([], ready, "t1");
    expect(withCondition(first, ready, "t2")).toEqual(first);
    expect(withCondition(first, { ...ready, reason: "Because" }, "t2")).toEqual([
      { ...ready, reason: "Because", lastTransitionTime: "t1" },
    ]);
  });

  it("moves the transition time when the status changes, and keeps the order", () => {
    const list = withCondition(withCondition([], ready, "t1"), { type: "Paused", status: "False" }, "t1");
    expect(
      withCondition(list, { type: "Ready", status: "False" }, "t2").map((c) => [c.type, c.lastTransitionTime]),
    ).toEqual([
      ["Ready", "t2"],
      ["Paused", "t1"],
    ]);
  });
});

describe("reading conditions", () => {
  it("finds, tests and removes", () => {
    const status = { conditions: withCondition([], ready, "t1") };
    expect(isConditionTrue(status, "Ready")).toBe(true);
    expect(getCondition(undefined, "Ready")).toBeUndefined();
    expect(withoutCondition(status.conditions, "Ready")).toEqual([]);
  });
});
