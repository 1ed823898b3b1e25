import { getCondition, type VirtualMachineInstance } from "@polyvirt/api";
import type { DomainReason, DomainState } from "@polyvirt/protocol";
import { describe, expect, it } from "vitest";
import { domainWith, vmiWith } from "../testing/objects.ts";
import type { ObservedInstance } from "./observed.ts";
import { planInstance } from "./plan.ts";

const NOW = new Date("2026-01-01T12:00:00Z");
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();

function plan(vmi: VirtualMachineInstance, change: Partial<ObservedInstance> = {}) {
  return planInstance({
    vmi,
    launcher: "connected",
    lostReason: undefined,
    domain: undefined,
    syncedGeneration: 1,
    prepared: undefined,
    shutdownSent: false,
    hostArchitecture: "amd64",
    now: NOW,
    ...change,
  });
}

const scheduled = (secondsAgo: number) =>
  vmiWith({
    phase: "Scheduled",
    phaseTransitionTimestamps: [{ phase: "Scheduled", phaseTransitionTimestamp: ago(secondsAgo) }],
  });
const running = vmiWith({ phase: "Running" });

describe("before the launcher is there", () => {
  it.each([
    [1, 25],
    [60, 1000],
  ])("looks again: %d s after the hand-over in %d ms", (seconds, requeueAfterMs) => {
    expect(plan(scheduled(seconds), { launcher: "absent" })).toEqual({
      status: undefined,
      events: [],
      action: { do: "nothing" },
      requeueAfterMs,
    });
  });

  it("gives up after three minutes", () => {
    const result = plan(scheduled(180), { launcher: "absent" });
    expect(result.status).toMatchObject({ phase: "Failed", reason: "LauncherNotReady" });
    expect(result.events).toMatchObject([{ type: "Warning", reason: "Stopped" }]);
  });
});

describe("a guest that is to run", () => {
  it("is given to the launcher when there is no machine", () => {
    expect(plan(vmiWith(), { syncedGeneration: undefined })).toMatchObject({
      action: { do: "sync" },
      status: undefined,
    });
  });

  it("is given again when its spec has changed, and only then", () => {
    const domain = domainWith("Running");
    expect(plan(running, { domain }).action).toEqual({ do: "nothing" });
    expect(plan(vmiWith({ phase: "Running" }, { generation: 2 }), { domain }).action).toEqual({ do: "sync" });
  });

  it.each(["Running", "Blocked", "Paused", "PMSuspended", "ShuttingDown"] as const)(
    "is Running when it is %s",
    (state) => {
      const result = plan(vmiWith(), { domain: domainWith(state, "StartingUp") });
      expect(result.status).toMatchObject({
        phase: "Running",
        phaseTransitionTimestamps: [{ phase: "Running", phaseTransitionTimestamp: "2026-01-01T12:00:00Z" }],
      });
      expect(result.events).toEqual([
        { type: "Normal", reason: "Started", message: "VirtualMachineInstance started." },
      ]);
    },
  );

  it.each(["NoState", "Unknown"] as const)("stays what it is while the machine is %s", (state) => {
    expect(plan(vmiWith(), { domain: domainWith(state) }).status).toBeUndefined();
  });

  it("writes nothing when nothing has changed", () => {
    const first = plan(running, { domain: domainWith("Running") });
    expect(plan(vmiWith(first.status), { domain: domainWith("Running") })).toMatchObject({
      status: undefined,
      events: [],
    });
  });

  it("says that and why it is paused, and takes it back", () => {
    const paused = plan(running, { domain: domainWith("Paused", "IOError") });
    expect(getCondition(paused.status, "Paused")).toMatchObject({ status: "True", reason: "PausedIOError" });
    const resumed = plan(vmiWith(paused.status), { domain: domainWith("Running") });
    expect(getCondition(resumed.status, "Paused")).toBeUndefined();
  });
});

describe("a guest of another architecture", () => {
  const foreign = { ...vmiWith(), spec: { architecture: "arm64", domain: { devices: {} } } };
  const message = "VM running with software emulation (host=amd64, guest=arm64)";

  it.each(["Emulated", "SoftwareEmulation"])("carries the condition %s while it runs", (type) => {
    const { status } = plan(foreign, { domain: domainWith("Running") });
    expect(getCondition(status, type)).toMatchObject({
      status: "True",
      reason: "CrossArchitectureEmulation",
      message,
    });
  });

  it("does not before it runs, nor on its own architecture", () => {
    expect(plan(foreign).status).toBeUndefined();
    const { status } = plan(foreign, { domain: domainWith("Running"), hostArchitecture: "arm64" });
    expect(getCondition(status, "Emulated")).toBeUndefined();
  });
});

describe("a guest that has ended", () => {
  it.each([
    ["Shutoff", "Shutdown", "Succeeded", "GuestShutdown"],
    ["Shutoff", "Saved", "Succeeded", "GuestSaved"],
    ["Shutoff", "Destroyed", "Failed", "GuestKilled"],
    ["Shutoff", "Crashed", "Failed", "GuestCrashed"],
    ["Crashed", "Panicked", "Failed", "GuestPanicked"],
    ["Crashed", "Unknown", "Failed", "GuestFailed"],
    ["Shutoff", "Failed", "Failed", "GuestFailed"],
    ["Paused", "PostcopyFailed", "Failed", "PostcopyFailed"],
  ] satisfies [DomainState, DomainReason, string, string][])("%s (%s) is %s", (state, why, phase, reason) => {
    const result = plan(running, { domain: domainWith(state, why) });
    expect(result.status).toMatchObject({ phase, reason });
    expect(result.action).toEqual({ do: "release" });
    expect(result.events).toMatchObject([{ type: phase === "Failed" ? "Warning" : "Normal", reason: "Stopped" }]);
    expect(getCondition(result.status, "Ready")).toMatchObject({ status: "False" });
  });

  it("may have been killed when it has no ACPI to be asked by", () => {
    const vmi = { ...running, spec: { domain: { devices: {}, features: { acpi: { enabled: false } } } } };
    expect(plan(vmi, { domain: domainWith("Shutoff", "Destroyed") }).status?.phase).toBe("Succeeded");
  });

  it("passes on what the launcher says", () => {
    const domain = domainWith("Crashed", "Crashed", "QEMU was killed by signal 9");
    const result = plan(running, { domain });
    expect(getCondition(result.status, "Synchronized")?.message).toBe(
      "The VirtualMachineInstance crashed: QEMU was killed by signal 9",
    );
    expect(result.events[0]?.message).toBe("The VirtualMachineInstance crashed: QEMU was killed by signal 9");
  });

  it("went to another node: the target reports", () => {
    expect(plan(running, { domain: domainWith("Shutoff", "Migrated") }).status).toBeUndefined();
  });

  it("ended as it said, even when its launcher is gone by now", () => {
    const result = plan(running, { launcher: "lost", lostReason: "x", domain: domainWith("Shutoff", "Shutdown") });
    expect(result.status?.phase).toBe("Succeeded");
  });

  it.each([undefined, domainWith("Running")])("failed when its launcher ended without a word", (domain) => {
    const result = plan(running, { launcher: "lost", lostReason: "the launcher's process has ended", domain });
    expect(result.status).toMatchObject({ phase: "Failed", reason: "LauncherLost" });
    expect(result.events[0]?.message).toContain("the launcher's process has ended");
  });

  it("is only released once it is recorded", () => {
    expect(plan(vmiWith({ phase: "Failed" }), { domain: domainWith("Running") })).toEqual({
      status: undefined,
      events: [],
      action: { do: "release" },
      requeueAfterMs: undefined,
    });
  });
});

describe("a VMI that is deleted", () => {
  const deleted = (secondsAgo: number) => vmiWith({ phase: "Running" }, { deletionTimestamp: ago(secondsAgo) });
  const domain = domainWith("Running");

  it("asks the guest once, then waits for its grace period", () => {
    const first = plan(deleted(1), { domain });
    expect(first).toMatchObject({
      action: { do: "shutdown" },
      events: [{ reason: "ShuttingDown" }],
      requeueAfterMs: 30_000,
    });
    expect(plan(deleted(2), { domain, shutdownSent: true })).toMatchObject({
      action: { do: "nothing" },
      events: [],
      requeueAfterMs: 29_000,
    });
  });

  it("asks even when it comes late, after a restart", () => {
    expect(plan(deleted(300), { domain })).toMatchObject({ action: { do: "shutdown" }, requeueAfterMs: 1000 });
  });

  it("ends the guest when its time is over", () => {
    expect(plan(deleted(31), { domain, shutdownSent: true })).toMatchObject({
      action: { do: "kill" },
      events: [{ reason: "Deleted", message: "Signaled Deletion" }],
    });
  });

  it("does not wait when the VMI grants no time", () => {
    const vmi = deleted(0);
    const impatient = { ...vmi, spec: { ...vmi.spec, terminationGracePeriodSeconds: 0 } };
    expect(plan(impatient, { domain }).action).toEqual({ do: "kill" });
  });

  it("starts no machine any more", () => {
    const vmi = vmiWith({ phase: "Scheduled" }, { deletionTimestamp: ago(1) });
    expect(plan(vmi).action).toEqual({ do: "nothing" });
    expect(plan(vmi, { launcher: "lost" }).status).toMatchObject({ phase: "Failed", reason: "DeletedBeforeStart" });
  });
});
