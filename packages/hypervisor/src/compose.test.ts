import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const linesOf = (path: string): Set<string> =>
  new Set(
    readFileSync(new URL(path, import.meta.url), "utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line.length > 10),
  );

describe("kvm and mshv", () => {
  it("are composed from the base, not copied from each other", () => {
    const kvm = linesOf("./kvm/kvm.ts");
    const shared = [...linesOf("./mshv/mshv.ts")].filter((line) => kvm.has(line));
    expect(shared.length).toBeLessThanOrEqual(3);
  });
});
