import { describe, expect, it } from "vitest";
import { readOptions } from "./migration-commands.ts";

const read = (options: unknown) => readOptions(Buffer.from(JSON.stringify(options)));

describe("options of a migration", () => {
  it.each([
    [
      { Bandwidth: "64Mi", AllowAutoConverge: true },
      { bandwidthBytesPerSecond: 67_108_864, allowAutoConverge: true },
    ],
    [{ Bandwidth: "0", AllowPostCopy: true }, { allowPostCopy: true }],
    [{}, { allowAutoConverge: false, allowPostCopy: false }],
  ])("%j", (given, wanted) => {
    expect(read(given)).toMatchObject(wanted);
  });

  it("may be absent, and must be readable", () => {
    expect(readOptions(new Uint8Array())).toEqual({});
    expect(read({ Bandwidth: "0" })).not.toHaveProperty("bandwidthBytesPerSecond");
    expect(() => readOptions(Buffer.from("{"))).toThrow(expect.objectContaining({ code: "LauncherRequestMalformed" }));
  });
});
