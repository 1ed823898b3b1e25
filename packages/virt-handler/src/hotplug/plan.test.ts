import type { VirtualMachineInstance, VolumeStatus } from "@polyvirt/api";
import type { DomainDocument } from "@polyvirt/protocol";
import { describe, expect, it } from "vitest";
import { planInstance } from "../instance/plan.ts";
import { domainWith, vmiWith } from "../testing/objects.ts";
import { planMoves } from "./plan.ts";

const attachment = { attachPodName: "hp-volume-abcde", attachPodUID: "attachment" };

/** A guest with these hotplugged volumes in its spec and those in its status. */
function guest(
  wanted: readonly string[],
  volumeStatus: readonly VolumeStatus[],
  phase: "Running" | "Scheduled" = "Running",
) {
  const vmi = vmiWith({ phase, volumeStatus: [...volumeStatus] });
  const volumes = wanted.map((name) => ({ name, persistentVolumeClaim: { claimName: name, hotpluggable: true } }));
  return { ...vmi, spec: { ...vmi.spec, volumes } };
}

const entry = (name: string, phase: string, target = ""): VolumeStatus => ({
  name,
  phase,
  target,
  hotplugVolume: attachment,
});

function machine(targets: Readonly<Record<string, string>> = {}): DomainDocument {
  const disks = Object.entries(targets).map(([name, dev]) => ({ alias: { name: `ua-${name}` }, target: { dev } }));
  return { ...domainWith("Running"), definition: { devices: { disks } } };
}

function plan(vmi: VirtualMachineInstance, domain: DomainDocument | undefined, mounted: readonly string[]) {
  const {
    status = vmi.status,
    events,
    action,
    requeueAfterMs,
  } = planInstance({
    vmi,
    launcher: "connected",
    lostReason: undefined,
    domain,
    syncedGeneration: 1,
    prepared: undefined,
    mountedVolumes: new Set(mounted),
    shutdownSent: false,
    hostArchitecture: "amd64",
    now: new Date("2026-01-01T12:00:00Z"),
  });
  return {
    volumes: status?.volumeStatus?.map(({ name, phase, target }) => `${name} ${phase} ${target}`.trim()),
    events: events.map(({ reason }) => reason),
    action: action.do,
    requeueAfterMs,
  };
}

describe("planMoves", () => {
  it.each([
    ["mounts what a running pod holds", guest(["a"], [entry("a", "AttachedToNode")]), [], ["a"], []],
    ["leaves what is mounted", guest(["a"], [entry("a", "Ready", "sda")]), ["a"], [], []],
    ["waits for the pod", guest(["a"], [{ ...entry("a", "AttachedToNode"), hotplugVolume: {} }]), [], [], []],
    ["unmounts what the guest has let go", guest([], [entry("b", "Detaching")]), ["b"], [], ["b"]],
    ["keeps what the guest still has", guest([], [entry("a", "Detaching", "sda")]), ["a"], [], []],
    ["unmounts what nobody knows", guest([], []), ["b"], [], ["b"]],
  ])("%s", (_what, vmi, mounted, mount, unmount) => {
    const moves = planMoves(vmi, machine({ a: "sda" }), new Set(mounted));
    expect({ mount: moves.mount.map(({ name }) => name), unmount: moves.unmount }).toEqual({ mount, unmount });
  });
});

describe("a running guest and its hotplugged volumes", () => {
  it("gives a mounted volume to the launcher, and looks whether it has arrived", () => {
    expect(plan(guest(["a"], [entry("a", "AttachedToNode")]), machine(), ["a"])).toEqual({
      volumes: ["a MountedToPod"],
      events: ["VolumeMountedToPod"],
      action: "sync",
      requeueAfterMs: 5000,
    });
  });

  it("reports one that the guest has, once", () => {
    const arrived = plan(guest(["a"], [entry("a", "MountedToPod")]), machine({ a: "sda" }), ["a"]);
    expect(arrived).toMatchObject({ volumes: ["a Ready sda"], events: ["VolumeReady"], action: "nothing" });
    const later = plan(guest(["a"], [entry("a", "Ready", "sda")]), machine({ a: "sda" }), ["a"]);
    expect(later).toMatchObject({ volumes: ["a Ready sda"], events: [], action: "nothing" });
  });

  it("asks the guest to let go of one that is not wanted any more, until it has", () => {
    expect(plan(guest([], [entry("a", "Detaching", "sda")]), machine({ a: "sda" }), ["a"])).toEqual({
      volumes: ["a Detaching sda"],
      events: [],
      action: "sync",
      requeueAfterMs: 5000,
    });
    expect(plan(guest([], [entry("a", "Detaching", "sda")]), machine(), ["a"])).toMatchObject({
      volumes: ["a Detaching"],
      action: "nothing",
    });
    expect(plan(guest([], [entry("a", "Detaching")]), machine(), [])).toMatchObject({
      volumes: ["a UnMountedFromPod"],
      events: ["VolumeUnMountedFromPod"],
    });
  });

  it("says nothing about one that has not come", () => {
    const waiting = guest(["a"], [{ ...entry("a", "Pending"), reason: "PVCNotReady" }]);
    expect(plan(waiting, machine(), [])).toMatchObject({ volumes: ["a Pending"], events: [], action: "nothing" });
  });

  it("starts with all of its volumes", () => {
    const vmi = guest(["a"], [entry("a", "AttachedToNode")], "Scheduled");
    expect(plan(vmi, undefined, [])).toMatchObject({ action: "nothing" });
    expect(plan(vmi, undefined, ["a"])).toMatchObject({ volumes: ["a MountedToPod"], action: "sync" });
  });
});
