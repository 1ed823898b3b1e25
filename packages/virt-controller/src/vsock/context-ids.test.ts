import type { VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { vmiWith } from "../testing/objects.ts";
import { createContextIds } from "./context-ids.ts";

const vmi = (uid: string, VSOCKCID?: number): VirtualMachineInstance =>
  vmiWith(VSOCKCID === undefined ? {} : { VSOCKCID }, { uid });

describe("context ids", () => {
  it("are kept by those who have one", () => {
    expect(createContextIds({ vmis: () => [] }).idOf(vmi("a", 7))).toBe(7);
  });

  it("are those of nobody else, seen or not", () => {
    const seen = [vmi("a", 10), vmi("b"), vmi("c")];
    const ids = createContextIds({ vmis: () => seen, random: () => 10 });
    expect([ids.idOf(vmi("b")), ids.idOf(vmi("c")), ids.idOf(vmi("b"))]).toEqual([11, 12, 11]);
  });

  it("go back to the beginning after the last", () => {
    const ids = createContextIds({ vmis: () => [vmi("a", 2 ** 32 - 2)], random: (_, last) => last });
    expect(ids.idOf(vmi("b"))).toBe(3);
  });

  it("are free again when their guest is gone", () => {
    let seen = [vmi("a")];
    const ids = createContextIds({ vmis: () => seen, random: () => 10 });
    expect(ids.idOf(vmi("a"))).toBe(10);
    seen = [vmi("b")];
    expect(ids.idOf(vmi("b"))).toBe(10);
  });

  it("are in the range that guests may have", () => {
    const id = createContextIds({ vmis: () => [] }).idOf(vmi("a"));
    expect(id).toBeGreaterThanOrEqual(3);
    expect(id).toBeLessThan(2 ** 32 - 1);
  });
});
