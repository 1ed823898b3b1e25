import { describe, expect, it } from "vitest";
import { chooseProtocol, exitStatus, parseSize } from "./channel-protocol.ts";

describe("channel protocol", () => {
  it.each([
    [["v4.channel.k8s.io", "v5.channel.k8s.io"], "v5.channel.k8s.io"],
    [["v4.channel.k8s.io"], "v4.channel.k8s.io"],
    [["v1.other"], undefined],
    [[], undefined],
  ])("chooses from %j", (offered, chosen) => {
    expect(chooseProtocol(offered)).toBe(chosen);
  });

  it.each([
    ['{"Width":80,"Height":24}', { columns: 80, rows: 24 }],
    ['{"Width":-1,"Height":24}', undefined],
    ['{"Width":80}', undefined],
    ["[]", undefined],
    ["x", undefined],
  ])("reads the size %s", (text, size) => {
    expect(parseSize(Buffer.from(text))).toEqual(size);
  });

  it("reports how a command ended", () => {
    expect(exitStatus(0, null)).toMatchObject({ status: "Success" });
    expect(exitStatus(3, null)).toMatchObject({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "3" }] },
    });
    expect(exitStatus(null, "SIGKILL")).toMatchObject({ details: { causes: [{ message: "137" }] } });
  });
});
