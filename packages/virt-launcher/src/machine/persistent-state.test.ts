import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { requirePersistentState } from "./persistent-state.ts";

const vmi = (domain: Partial<VirtualMachineInstance["spec"]["domain"]>): VirtualMachineInstance => ({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "vm" },
  spec: { domain: { devices: {}, ...domain } },
});

describe("requirePersistentState", () => {
  it("refuses what would be lost with the pod, by field", () => {
    const both = vmi({
      devices: { tpm: { persistent: true } },
      firmware: { bootloader: { efi: { persistent: true } } },
    });
    expect(() => requirePersistentState(both, "/nowhere/at/all")).toThrow(
      "spec.domain.firmware.bootloader.efi.persistent, spec.domain.devices.tpm.persistent",
    );
  });

  it("is content with a volume for each", () => {
    const folder = mkdtempSync(join(tmpdir(), "state-"));
    const both = vmi({
      devices: { tpm: { persistent: true } },
      firmware: { bootloader: { efi: { persistent: true } } },
    });
    mkdirSync(join(folder, "swtpm"));
    expect(() => requirePersistentState(both, folder)).toThrow(
      /guest \(spec.domain.firmware.bootloader.efi.persistent\)/,
    );
    mkdirSync(join(folder, "nvram"));
    expect(() => requirePersistentState(both, folder)).not.toThrow();
    rmSync(folder, { recursive: true });
  });

  it("wants nothing for a guest that keeps nothing", () => {
    expect(() => requirePersistentState(vmi({ devices: { tpm: {} } }), "/nowhere/at/all")).not.toThrow();
  });
});
