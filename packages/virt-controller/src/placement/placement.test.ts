import { resolveClusterConfig, type Architecture } from "@polyvirt/hypervisor";
import { describe, expect, it } from "vitest";
import { everyCandidateOffers, isNativeEverywhere, planPlacement, type NodeOffer } from "./placement.ts";

function node(architecture: Architecture, guests: readonly Architecture[], more: Partial<NodeOffer> = {}): NodeOffer {
  return {
    allocatable: {},
    ...more,
    labels: {
      "kubernetes.io/arch": architecture,
      "kubevirt.io/schedulable": "true",
      ...Object.fromEntries(guests.map((guest) => [`kubevirt.io/vm-arch-${guest}`, "true"])),
      ...more.labels,
    },
  };
}

function place(
  guest: Architecture,
  nodes: readonly NodeOffer[],
  settings: { gate?: string; useEmulation?: boolean } = {},
) {
  const { gate, useEmulation = false } = settings;
  const developerConfiguration = { useEmulation, ...(gate === undefined ? {} : { featureGates: [gate] }) };
  const config = resolveClusterConfig({ developerConfiguration }, { hostArchitecture: "amd64" });
  return planPlacement({ architecture: guest, config, nodes, hypervisorDevice: () => "kvm" });
}

const amd64 = node("amd64", ["amd64", "arm64"]);
const gate = "MultiArchitectureSoftwareEmulation";

/** The table of the proposal for emulation of other architectures, on a cluster of one amd64 node. */
describe("a guest on a cluster of one amd64 node", () => {
  it.each([
    [{ useEmulation: true }, "amd64", { mode: "native" }],
    [
      { useEmulation: true },
      "arm64",
      {
        mode: "impossible",
        reason: "CrossArchitectureEmulationNotEnabled",
        message:
          "Cross-architecture emulation not enabled. Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration.",
      },
    ],
    [
      { gate },
      "arm64",
      {
        mode: "impossible",
        reason: "EmulationNotAllowed",
        message: "kvm not present or cross-arch requested, but emulation not allowed",
      },
    ],
    [{ gate, useEmulation: true }, "arm64", { mode: "emulated", candidates: [amd64] }],
    [{ gate, useEmulation: true }, "amd64", { mode: "emulated", candidates: [amd64] }],
    [{ gate: "CrossArchitectureVirtualization", useEmulation: true }, "arm64", { mode: "emulated" }],
    [
      { gate, useEmulation: true },
      "s390x",
      {
        mode: "impossible",
        reason: "EmulatorNotFound",
        message: "Required emulator binary /usr/bin/qemu-system-s390x not found on node",
      },
    ],
  ] as const)("%j, %s", (settings, guest, expected) => {
    expect(place(guest, [amd64], settings)).toMatchObject(expected);
  });
});

describe("planPlacement", () => {
  it("waits for a node of the guest's architecture that is only away", () => {
    const away = node("arm64", [], { labels: { "kubevirt.io/schedulable": "false" } });
    expect(place("arm64", [amd64, away])).toEqual({ mode: "native", candidates: [] });
  });

  it("says nothing while no node may run guests", () => {
    expect(place("arm64", [])).toEqual({ mode: "native", candidates: [] });
  });
});

describe("devices", () => {
  const kvm = "devices.kubevirt.io/kvm";
  const both = [node("amd64", ["amd64", "arm64"], { allocatable: { [kvm]: "1k" } }), node("arm64", ["arm64"])];
  const placed = (guest: Architecture) => {
    const placement = place(guest, both, { gate, useEmulation: true });
    if (placement.mode === "impossible") throw new Error("the guest has a place");
    return placement;
  };

  it("are counted only where the guest may go", () => {
    expect(everyCandidateOffers(placed("amd64"), kvm)).toBe(true);
    expect(everyCandidateOffers(placed("arm64"), kvm)).toBe(false);
  });

  it("of the hypervisor are of use only where nothing is emulated", () => {
    expect(isNativeEverywhere(placed("amd64"), "amd64")).toBe(true);
    expect(isNativeEverywhere(placed("arm64"), "arm64")).toBe(false);
  });
});
