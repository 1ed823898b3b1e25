import type { VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { checkCommand } from "./commands.ts";
import { checkStream } from "./streams.ts";

const running: VirtualMachineInstance = {
  metadata: { name: "vmi" },
  spec: { domain: { devices: {} } },
  status: { phase: "Running" },
};
const paused: VirtualMachineInstance = {
  ...running,
  status: { phase: "Running", conditions: [{ type: "Paused", status: "True" }] },
};
const deaf: VirtualMachineInstance = {
  ...running,
  spec: { domain: { devices: {}, features: { acpi: { enabled: false } } } },
};
const probed: VirtualMachineInstance = { ...running, spec: { ...running.spec, livenessProbe: { guestAgentPing: {} } } };

describe("checkCommand", () => {
  it.each([
    ["pause", running],
    ["unpause", paused],
    ["softreboot", running],
    ["reset", running],
  ])("lets %s through", (command, vmi) => {
    expect(() => checkCommand(command, vmi)).not.toThrow();
  });

  it.each([
    ["pause", { ...running, status: {} }, "VMI is not running"],
    ["pause", paused, "VMI is already paused"],
    ["pause", probed, "Pausing VMIs with LivenessProbe is currently not supported"],
    ["unpause", running, "VMI is not paused"],
    ["softreboot", deaf, "VMI does not have guest agent connected"],
    ["freeze", running, "virtualmachineinstances/freeze is not served by this version"],
  ])("refuses %s", (command, vmi, message) => {
    expect(() => checkCommand(command, vmi)).toThrow(message);
  });
});

describe("checkStream", () => {
  it("needs the device", () => {
    expect(() => checkStream("vnc", running)).not.toThrow();
    const devices = { autoattachGraphicsDevice: false, autoattachSerialConsole: false };
    const bare = { ...running, spec: { domain: { devices } } };
    expect(() => checkStream("vnc", bare)).toThrow("No graphics devices are present.");
    expect(() => checkStream("console", bare)).toThrow("No serial consoles are present.");
  });
});
