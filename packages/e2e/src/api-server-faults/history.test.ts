import { describe, expect, it } from "vitest";
import { lostWrites, missedEvents, outOfOrder, type Witnessed } from "./history.ts";

const write = (value: number, version: number) => ({ name: "a", value, version });
const seen = (value: number, version: number): Witnessed => ({ type: "MODIFIED", name: "a", value, version });

describe("the check of a history", () => {
  it("finds writes that are gone", () => {
    const writes = [write(1, 10), write(2, 11)];
    expect(lostWrites(writes, new Map([["a", 2]]))).toEqual([]);
    expect(lostWrites(writes, new Map([["a", 1]]))).toEqual([write(2, 11)]);
    expect(lostWrites(writes, new Map())).toEqual(writes);
  });

  it("finds events in the wrong order or told twice", () => {
    expect(outOfOrder([seen(1, 10), seen(2, 11)])).toEqual([]);
    expect(outOfOrder([seen(2, 11), seen(1, 10)])).toEqual([seen(1, 10)]);
    expect(outOfOrder([seen(1, 10), seen(1, 10)])).toHaveLength(1);
  });

  it("finds gaps inside what a watcher saw, and only there", () => {
    const writes = [write(1, 10), write(2, 11), write(3, 12), write(4, 13)];
    expect(missedEvents(writes, { from: 10, events: [seen(2, 11), seen(3, 12)] })).toEqual([]);
    expect(missedEvents(writes, { from: 10, events: [seen(3, 12)] })).toEqual([write(2, 11)]);
  });
});
