import type { VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { guestPort } from "./port-forward.ts";

const vmi: VirtualMachineInstance = {
  metadata: { name: "web", namespace: "default" },
  spec: { domain: { devices: {} }, networks: [{ name: "net", pod: {} }] },
  status: {
    phase: "Running",
    interfaces: [
      { interfaceName: "docker0", ipAddress: "172.17.0.1", infoSource: "guest-agent" },
      { name: "net", ipAddress: "10.244.0.5", ipAddresses: ["10.244.0.5", "192.0.2.66"] },
    ],
  },
};

describe("guestPort", () => {
  it("is at the pod's address, whatever else the guest tells of itself", () => {
    expect(guestPort(vmi, { port: "8080" })).toEqual({ protocol: "tcp", host: "10.244.0.5", port: 8080 });
    expect(guestPort(vmi, { port: "22", protocol: "tcp" })).toMatchObject({ protocol: "tcp", port: 22 });
    expect(guestPort(vmi, { port: "53", protocol: "udp" })).toMatchObject({ protocol: "udp", port: 53 });
  });

  it.each<[string, VirtualMachineInstance, Record<string, string>, number]>([
    ["a port that is none", vmi, { port: "ssh" }, 400],
    ["a port that is too high", vmi, { port: "65536" }, 400],
    ["another protocol", vmi, { port: "53", protocol: "sctp" }, 400],
    ["a guest that does not run", { ...vmi, status: { ...vmi.status, phase: "Scheduled" } }, { port: "1" }, 409],
    ["a guest without an address", { ...vmi, status: { phase: "Running" } }, { port: "1" }, 409],
    [
      "a guest whose address is none",
      { ...vmi, status: { phase: "Running", interfaces: [{ name: "net", ipAddress: "evil.example" }] } },
      { port: "1" },
      409,
    ],
  ])("refuses %s", (_what, given, parameters, status) => {
    expect(() => guestPort(given, parameters)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: status }) }),
    );
  });
});
