import { architectures } from "../architecture.ts";
import { registry } from "../builtin.ts";
import { instance } from "../testing/fixtures.ts";
import { describe, expect, it } from "vitest";
import { features } from "./features.ts";
import { baseOverlays } from "./overlays.ts";
import { findUnserved } from "./unserved.ts";

const level = (platform: string, key: string) => {
  const { hypervisor, architecture } = registry.platform(platform);
  return hypervisor.capabilities.support(architecture).find((entry) => entry.key === key);
};

describe("capability registry", () => {
  it("knows every feature on every platform", () => {
    for (const hypervisor of registry.names()) {
      for (const architecture of architectures) {
        const support = registry.get(hypervisor).capabilities.support(architecture);
        expect(support.map(({ key }) => key)).toEqual(features.map(({ key }) => key));
        for (const entry of support) expect(entry.level === "supported" || entry.message !== undefined).toBe(true);
      }
    }
  });

  it("has each key once, and no overlay for a key that does not exist", () => {
    const keys = features.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    const named = Object.values(baseOverlays).flatMap((overlay) => Object.keys(overlay));
    expect(named.filter((key) => !keys.some((known) => known === key))).toEqual([]);
  });

  it("lets the narrower overlay win", () => {
    expect(level("kvm/amd64", "launch-security.sev")).toMatchObject({
      level: "experimental",
      gate: "WorkloadEncryptionSEV",
    });
    expect(level("mshv/amd64", "launch-security.sev")).toMatchObject({ level: "unsupported" });
    expect(level("kvm/s390x", "launch-security.sev")?.message).toBe(
      "No launchSecurity support for architecture: s390x",
    );
    expect(level("kvm/amd64", "disks.virtio")).toEqual({
      key: "disks.virtio",
      title: "Disk bus virtio",
      field: "domain.devices.disks[].disk.bus",
      level: "supported",
    });
  });
});

describe("findUnserved", () => {
  it("names every field that this version cannot run yet", () => {
    const vmi = instance(
      { devices: { clientPassthrough: {}, gpus: [{ name: "g", deviceName: "d", tag: "t" }] } },
      { volumes: [{ name: "m", memoryDump: { claimName: "x" } }] },
    );
    expect(findUnserved("spec", vmi.spec).map(({ field }) => field)).toEqual([
      "spec.volumes[0]",
      "spec.domain.devices.gpus[0].tag",
      "spec.domain.devices.clientPassthrough",
    ]);
    expect(findUnserved("spec", instance().spec)).toEqual([]);
  });
});

describe("Hyper-V features of a node", () => {
  const { capabilities } = registry.get("kvm");

  it("are read from CPUID", () => {
    const hypervCpuid = [
      { function: 0x40000000, eax: 0x4000000a, ebx: 0, ecx: 0, edx: 0 },
      { function: 0x40000003, eax: 0b1100_0110, ebx: 0, ecx: 0, edx: 0 },
      { function: 0x40000004, eax: 1 << 10, ebx: 0, ecx: 0, edx: 0 },
    ];
    expect(capabilities.getHypervFeatures({ hypervCpuid })).toEqual([
      "base",
      "ipi",
      "reset",
      "synic",
      "synic2",
      "time",
      "vpindex",
    ]);
  });

  it("or from libvirt's names, and are none where nothing is known", () => {
    expect(capabilities.getHypervFeatures({ hypervEnlightenments: ["stimer", "spinlocks"] })).toEqual([
      "base",
      "synictimer",
    ]);
    expect(capabilities.getHypervFeatures({})).toEqual([]);
  });
});
