import { describe, expect, it } from "vitest";
import { completionLimitMs, readOptions } from "./migration-commands.ts";

const read = (options: unknown) => readOptions(Buffer.from(JSON.stringify(options)));

describe("options of a migration", () => {
  it.each([
    [
      { Bandwidth: "64Mi", AllowAutoConverge: true },
      { bandwidthBytesPerSecond: 67_108_864, allowAutoConverge: true },
    ],
    [{ Bandwidth: "0", AllowPostCopy: true }, { allowPostCopy: true }],
    [{}, { allowAutoConverge: false, allowPostCopy: false }],
    [{ CompletionTimeoutPerGiB: 150 }, { secondsPerGib: 150 }],
  ])("%j", (given, wanted) => {
    expect(read(given)).toMatchObject(wanted);
  });

  it("may be absent, and must be readable", () => {
    expect(readOptions(new Uint8Array())).toEqual({});
    expect(read({ Bandwidth: "0" })).not.toHaveProperty("bandwidthBytesPerSecond");
    expect(() => readOptions(Buffer.from("{"))).toThrow(expect.objectContaining({ code: "LauncherRequestMalformed" }));
  });
});

describe("how long a move may take", () => {
  const limit = (memory: string | undefined, seconds: number | undefined) =>
    completionLimitMs({ spec: { domain: { devices: {}, ...(memory && { memory: { guest: memory } }) } } }, seconds);

  it.each([
    ["4Gi", 150, 600_000],
    ["128Mi", 150, 150_000],
    [undefined, 10, 10_000],
    ["4Gi", undefined, undefined],
  ])("%s of memory at %s seconds for each gibibyte", (memory, seconds, wanted) => {
    expect(limit(memory, seconds)).toBe(wanted);
  });
});
