import { describe, expect, it } from "vitest";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { allocatedDevices } from "./host-devices.ts";

const vmi: VirtualMachineInstance = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "vm" },
  spec: {
    domain: {
      devices: {
        gpus: [
          { name: "first", deviceName: "example.org/gpu-x" },
          { name: "second", deviceName: "example.org/gpu-x" },
          { name: "third", deviceName: "example.org/gpu-x" },
        ],
        hostDevices: [
          { name: "stick", deviceName: "example.org/stick" },
          { name: "slice", deviceName: "example.org/slice" },
        ],
      },
    },
  },
};

describe("allocatedDevices", () => {
  it("hands out the pod's devices in order, and none twice", () => {
    const given = allocatedDevices(vmi, {
      "PCI_RESOURCE_EXAMPLE_ORG_GPU-X": "0000:01:00.0,0000:02:00.0",
      USB_RESOURCE_EXAMPLE_ORG_STICK: "1:12",
      MDEV_PCI_RESOURCE_EXAMPLE_ORG_SLICE: "00000000-0000-4000-8000-000000000000",
    });
    expect(given).toEqual({
      first: { kind: "pci", address: "0000:01:00.0" },
      second: { kind: "pci", address: "0000:02:00.0" },
      stick: { kind: "usb", bus: 1, device: 12 },
      slice: { kind: "mdev", uuid: "00000000-0000-4000-8000-000000000000" },
    });
  });

  it("gives nothing that the kubelet did not allocate", () => {
    expect(allocatedDevices(vmi, { PCI_RESOURCE_EXAMPLE_ORG_GPU: "0000:01:00.0" })).toEqual({});
  });
});
