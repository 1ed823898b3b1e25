import { describe, expect, it } from "vitest";
import { create, toBinary, toJson } from "@bufbuild/protobuf";
import { capabilitiesV1, cmdV1 } from "./index.ts";

/** Bytes written by hand from the field numbers that KubeVirt publishes: a renumbered field breaks these. */
describe("wire format", () => {
  it("puts the VMI JSON at 1.1 and the plug-ins at 2.10 of a VMIRequest", () => {
    const request = create(cmdV1.VMIRequestSchema, {
      vmi: { vmiJson: Buffer.from("{}") },
      options: { pluginsJson: Buffer.from("[]") },
    });
    expect(Buffer.from(toBinary(cmdV1.VMIRequestSchema, request)).toString("hex")).toBe(
      ["0a04", "0a027b7d", "1204", "52025b5d"].join(""),
    );
  });

  it("keeps the condition of the guest agent beside KubeVirt's two fields", () => {
    const response = create(cmdV1.GuestInfoResponseSchema, {
      response: { success: true },
      guestInfoResponse: "x",
      guestAgentCondition: { connected: true, supported: false },
    });
    expect(Buffer.from(toBinary(cmdV1.GuestInfoResponseSchema, response)).toString("hex")).toBe(
      ["0a020801", "120178", "1a020801"].join(""),
    );
  });

  it("names every method of the Cmd API once", () => {
    const names = cmdV1.Cmd.methods.map((method) => method.name);
    expect(new Set(names).size).toBe(names.length);
    // 36 of KubeVirt and 3 additions.
    expect(names).toHaveLength(39);
  });

  it("exports capabilities as ProtoJSON", () => {
    const capabilities = create(capabilitiesV1.CapabilitiesSchema, {
      vmmName: "QEMU",
      nodeTscInfo: { frequencyHz: 2_400_000_000n, scalable: true },
    });
    expect(toJson(capabilitiesV1.CapabilitiesSchema, capabilities)).toEqual({
      vmmName: "QEMU",
      nodeTscInfo: { frequencyHz: "2400000000", scalable: true },
    });
  });
});
