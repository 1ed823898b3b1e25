import { getCondition, type VirtualMachineInstance } from "@polyvirt/api";
import type { DomainDocument } from "@polyvirt/protocol";
import { describe, expect, it } from "vitest";
import { domainWith, vmiWith } from "../../testing/objects.ts";
import { emulationPart } from "./emulation.ts";
import { liveMigratablePart } from "./live-migratable.ts";
import { machinePart } from "./machine.ts";
import type { Status, StatusPart } from "./status-part.ts";

function run(
  part: StatusPart,
  vmi: VirtualMachineInstance,
  domain: DomainDocument | undefined = domainWith("Running"),
) {
  return part(vmi.status ?? {}, {
    vmi,
    domain,
    launcher: "connected",
    lostReason: undefined,
    syncedGeneration: 1,
    prepared: undefined,
    shutdownSent: false,
    hostArchitecture: "amd64",
    now: new Date("2026-01-01T12:00:00Z"),
  });
}

function guest(spec: Partial<VirtualMachineInstance["spec"]>, status: Status = {}): VirtualMachineInstance {
  return { ...vmiWith({ phase: "Running", ...status }), spec: { domain: { devices: {} }, ...spec } };
}

describe("emulationPart", () => {
  const typed = (Type: string): DomainDocument => {
    const domain = domainWith("Running");
    return { ...domain, Spec: { ...domain.Spec, Type } };
  };

  it("tells of a guest that is emulated on its own architecture, and of nothing else", () => {
    const status = run(emulationPart, guest({ architecture: "amd64" }), typed("qemu"));
    expect(getCondition(status, "SoftwareEmulation")).toMatchObject({
      status: "True",
      reason: "HypervisorDeviceUnavailable",
      message: "VM running with software emulation (host=amd64, guest=amd64)",
    });
    expect(getCondition(status, "Emulated")).toBeUndefined();
  });

  it("says nothing about one that runs on the hypervisor", () => {
    expect(run(emulationPart, guest({ architecture: "amd64" }), typed("kvm")).conditions).toBeUndefined();
  });
});

describe("machinePart", () => {
  const volumes = [
    { name: "root", containerDisk: { image: "x" } },
    { name: "data", persistentVolumeClaim: { claimName: "c" } },
    { name: "absent", emptyDisk: { capacity: "1Gi" } },
  ];
  const disk = (alias: unknown, dev: unknown) => ({ alias: { name: alias }, target: { dev } });
  const defined = (definition: unknown): DomainDocument => ({ ...domainWith("Running"), definition });

  it("names the machine and the devices, and keeps what is known of claims", () => {
    const claim = { name: "data", target: "", persistentVolumeClaimInfo: { claimName: "c" } };
    const status = run(
      machinePart,
      guest({ volumes }, { volumeStatus: [claim] }),
      defined({
        os: { type: { machine: "pc-q35-7.2" } },
        devices: { disks: [disk("ua-root", "vda"), disk("ua-data", "sda"), disk("ua-stranger", "sdb")] },
      }),
    );
    expect(status.machine).toEqual({ type: "pc-q35-7.2" });
    expect(status.volumeStatus).toEqual([
      { ...claim, target: "sda" },
      { name: "root", target: "vda" },
    ]);
  });

  it.each([
    ["nothing", undefined],
    ["no object", "text"],
    ["lists where there are none", { os: [], devices: [] }],
    ["wrong types", { os: { type: { machine: 7 } }, devices: { disks: [null, disk(1, 2), disk("ua-root", "x y")] } }],
    ["too long a name", { os: { type: { machine: "x".repeat(100) } } }],
  ])("believes no definition with %s", (_what, definition) => {
    const before = guest({ volumes });
    expect(run(machinePart, before, defined(definition))).toEqual(before.status);
  });
});

describe("liveMigratablePart", () => {
  const condition = (vmi: VirtualMachineInstance) => getCondition(run(liveMigratablePart, vmi), "LiveMigratable");
  const onPod = (kind: "bridge" | "masquerade") => ({
    networks: [{ name: "default", pod: {} }],
    domain: { devices: { interfaces: [{ name: "default", [kind]: {} }] } },
  });

  it("lets a guest with disks in its pod be copied", () => {
    const vmi = guest({ ...onPod("masquerade"), volumes: [{ name: "root", containerDisk: { image: "x" } }] });
    expect(condition(vmi)).toMatchObject({ status: "True" });
    expect(run(liveMigratablePart, vmi).migrationMethod).toBe("BlockMigration");
  });

  it("needs no copy where all disks are shared", () => {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "c" } }];
    const info = { claimName: "c", accessModes: ["ReadWriteMany" as const] };
    const vmi = guest(
      { volumes },
      { volumeStatus: [{ name: "data", target: "vda", persistentVolumeClaimInfo: info }] },
    );
    expect(run(liveMigratablePart, vmi).migrationMethod).toBe("LiveMigration");
  });

  it.each<[string, Partial<VirtualMachineInstance["spec"]>]>([
    ["DisksNotLiveMigratable", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "c" } }] }],
    ["DisksNotLiveMigratable", { volumes: [{ name: "h", hostDisk: { path: "/x", type: "Disk" } }] }],
    ["InterfaceNotLiveMigratable", onPod("bridge")],
    ["VirtIOFSNotLiveMigratable", { domain: { devices: { filesystems: [{ name: "f", virtiofs: {} }] } } }],
    ["HostDeviceNotLiveMigratable", { domain: { devices: { gpus: [{ name: "g", deviceName: "x/y" }] } } }],
    ["SEVNotLiveMigratable", { domain: { devices: {}, launchSecurity: { sev: {} } } }],
    ["TDXNotLiveMigratable", { domain: { devices: {}, launchSecurity: { tdx: {} } } }],
    [
      "PersistentReservationNotLiveMigratable",
      { domain: { devices: { disks: [{ name: "d", lun: { reservation: true } }] } } },
    ],
    [
      "HypervPassthroughNotLiveMigratable",
      { domain: { devices: {}, features: { hypervPassthrough: { enabled: true } } } },
    ],
  ])("%s", (reason, spec) => {
    expect(condition(guest(spec))).toMatchObject({ status: "False", reason });
    expect(run(liveMigratablePart, guest(spec)).migrationMethod).toBeUndefined();
  });

  it("is tied to its node by a claim that keeps its state there", () => {
    const kept = (mode: "ReadWriteOnce" | "ReadWriteMany") => {
      const persistentVolumeClaimInfo = { claimName: "state", accessModes: [mode] };
      return guest({}, { volumeStatus: [{ name: "state", target: "", persistentVolumeClaimInfo }] });
    };
    expect(condition(kept("ReadWriteOnce"))).toMatchObject({
      status: "False",
      reason: "DisksNotLiveMigratable",
      message: "claim state keeps the guest's state and is not shared",
    });
    expect(condition(kept("ReadWriteMany"))).toMatchObject({ status: "True" });
  });

  it("says nothing before the machine runs", () => {
    expect(run(liveMigratablePart, guest({}), domainWith("Shutoff")).conditions).toBeUndefined();
  });
});
