import type { VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { checkCommand } from "./commands.ts";
import { checkQuestion } from "./questions.ts";
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
const answering: VirtualMachineInstance = {
  ...running,
  status: { phase: "Running", conditions: [{ type: "AgentConnected", status: "True" }] },
};
const probed: VirtualMachineInstance = { ...running, spec: { ...running.spec, livenessProbe: { guestAgentPing: {} } } };

describe("checkCommand", () => {
  it.each([
    ["pause", running],
    ["unpause", paused],
    ["softreboot", answering],
    ["freeze", answering],
    ["unfreeze", answering],
    ["reset", running],
  ])("lets %s through", (command, vmi) => {
    expect(() => checkCommand(command, vmi)).not.toThrow();
  });

  it.each([
    ["pause", { ...running, status: {} }, "VMI is not running"],
    ["pause", paused, "VMI is already paused"],
    ["pause", probed, "Pausing VMIs with LivenessProbe is currently not supported"],
    ["unpause", running, "VMI is not paused"],
    ["softreboot", running, "VMI does not have guest agent connected"],
    ["freeze", running, "VMI does not have guest agent connected"],
    ["freeze", paused, "VMI is paused"],
    ["unfreeze", running, "VMI does not have guest agent connected"],
    ["backup", running, "virtualmachineinstances/backup is not served by this version"],
  ])("refuses %s", (command, vmi, message) => {
    expect(() => checkCommand(command, vmi)).toThrow(message);
  });
});

describe("checkQuestion", () => {
  it("needs the agent, or a screen", () => {
    const none = new URLSearchParams();
    for (const question of ["guestosinfo", "userlist", "filesystemlist"]) {
      expect(() => checkQuestion(question, answering, none)).not.toThrow();
      expect(() => checkQuestion(question, running, none)).toThrow("VMI does not have guest agent connected");
      expect(() => checkQuestion(question, { ...answering, status: {} }, none)).toThrow("VMI is not running");
    }
    const blind = { ...running, spec: { domain: { devices: { autoattachGraphicsDevice: false } } } };
    expect(() => checkQuestion("vnc/screenshot", blind, none)).toThrow("No graphics devices are present.");
  });

  it("passes on only what virt-handler knows", () => {
    const query = new URLSearchParams({ moveCursor: "true", other: "x" });
    expect(checkQuestion("vnc/screenshot", running, query).toString()).toBe("moveCursor=true");
    expect(checkQuestion("userlist", answering, query).toString()).toBe("");
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
