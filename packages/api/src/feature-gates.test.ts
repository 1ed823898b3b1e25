import { describe, expect, it } from "vitest";
import { isGateEnabled, unknownGates } from "./feature-gates.ts";

const on = (...featureGates: string[]) => ({ developerConfiguration: { featureGates } });
const off = (...disabledFeatureGates: string[]) => ({ developerConfiguration: { disabledFeatureGates } });

describe("isGateEnabled", () => {
  it("has alpha gates off until they are asked for", () => {
    expect(isGateEnabled(undefined, "HostDisk")).toBe(false);
    expect(isGateEnabled(on("HostDisk"), "HostDisk")).toBe(true);
  });

  it("has beta gates on until they are disabled", () => {
    expect(isGateEnabled({}, "ImageVolume")).toBe(true);
    expect(isGateEnabled(off("ImageVolume"), "ImageVolume")).toBe(false);
  });

  it("knows a gate by its other name", () => {
    expect(isGateEnabled(on("CrossArchitectureVirtualization"), "MultiArchitectureSoftwareEmulation")).toBe(true);
  });
});

describe("unknownGates", () => {
  it("finds names that switch nothing", () => {
    expect(unknownGates(on("HostDisk", "HostDsik"))).toEqual(["HostDsik"]);
  });
});
