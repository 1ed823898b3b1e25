import { finalizers, getCondition, labels, unpausedReadinessGate, type VirtualMachineInstance } from "@polyvirt/api";
import type { Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import type { Placement } from "../placement/placement.ts";
import { NOW, podWith, terminating, vmiWith } from "../testing/objects.ts";
import { HANDLER_GRACE_MS } from "./oversight.ts";
import { planVmi } from "./plan.ts";

const anywhere = { mode: "native", candidates: [] } as const;
const asked = { launcherUser: 107, contextId: () => 4711 };

const plan = (vmi: VirtualMachineInstance, pods: Pod[] = [], podMissingForMs = 0, placement: Placement = anywhere) =>
  planVmi({ ...asked, vmi, pods, podMissingForMs, placement: () => placement, now: NOW });

const condition = (result: ReturnType<typeof plan>, type: string) => getCondition(result.status, type);

const readyPod = (extra: Parameters<typeof podWith>[0] = {}) =>
  podWith({ phase: "Running", ready: true, state: { running: {} }, ...extra });

const ended = (secondsAgo: number, exitCode = 137) =>
  podWith({
    phase: exitCode === 0 ? "Succeeded" : "Failed",
    state: { terminated: { exitCode, finishedAt: new Date(NOW.getTime() - secondsAgo * 1000).toISOString() } },
  });

describe("a VMI without a pod", () => {
  it("gets one and is Scheduling", () => {
    const result = plan(vmiWith());
    expect(result.createPod).toBe(anywhere);
    expect(result.status).toMatchObject({
      phase: "Scheduling",
      phaseTransitionTimestamps: [{ phase: "Scheduling", phaseTransitionTimestamp: "2026-01-01T12:00:00Z" }],
    });
    expect(condition(result, "Ready")).toMatchObject({ status: "False", reason: "GuestNotRunning" });
  });

  it("gets a status from the beginning on, whatever admission could not keep", () => {
    const vmi = vmiWith();
    const { status } = plan({ ...vmi, status: {} });
    expect(status).toMatchObject({
      runtimeUser: 107,
      memory: { guestAtBoot: "128Mi", guestCurrent: "128Mi", guestRequested: "128Mi" },
      currentCPUTopology: { sockets: 1, cores: 1, threads: 1 },
    });
    expect(status?.phaseTransitionTimestamps?.map(({ phase }) => phase)).toEqual(["Pending", "Scheduling"]);
    expect(plan(vmiWith({ runtimeUser: 0 })).status?.runtimeUser).toBe(0);
  });

  it("fails at once, with event and condition, when it can run nowhere", () => {
    const placement: Placement = { mode: "impossible", reason: "EmulationNotAllowed", message: "not allowed" };
    const result = plan(vmiWith(), [], 0, placement);
    expect(result).toMatchObject({ createPod: undefined, status: { phase: "Failed", reason: "EmulationNotAllowed" } });
    expect(condition(result, "Synchronized")).toMatchObject({ status: "False", message: "not allowed" });
    expect(result.events).toEqual([{ type: "Warning", reason: "EmulationNotAllowed", message: "not allowed" }]);
  });

  it("gets our finalizer when admission did not set it", () => {
    const result = plan(vmiWith({}, { finalizers: ["other"] }));
    expect(result.metadata?.finalizers).toEqual(["other", finalizers.virtualMachineInstance]);
  });

  it("ends and is released at once when it was deleted before", () => {
    const result = plan(vmiWith({ phase: "Pending" }, terminating));
    expect(result).toMatchObject({ createPod: undefined, release: true, status: { phase: "Failed" } });
    expect(result.status?.reason).toBe("DeletedBeforeStart");
  });

  it("fails when its pod was taken away while it waited", () => {
    const result = plan(vmiWith({ phase: "Scheduling" }));
    expect(result).toMatchObject({ createPod: undefined, status: { phase: "Failed", reason: "LauncherPodMissing" } });
    expect(result.events).toMatchObject([{ type: "Warning", reason: "LauncherPodMissing" }]);
  });
});

describe("a VMI whose pod waits", () => {
  it("says why the pod fits on no node", () => {
    const message = "0/1 nodes are available: 1 Insufficient memory.";
    const pod = podWith({
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
    });
    const result = plan(vmiWith({ phase: "Scheduling" }), [pod]);
    expect(condition(result, "PodScheduled")).toMatchObject({ status: "False", reason: "Unschedulable", message });
  });

  it("forgets that once the pod has a node", () => {
    const waiting = { type: "PodScheduled", status: "False", reason: "Unschedulable" } as const;
    const pod = podWith({ conditions: [{ type: "PodScheduled", status: "True" }] });
    const result = plan(vmiWith({ phase: "Scheduling", conditions: [waiting] }), [pod]);
    expect(condition(result, "PodScheduled")).toBeUndefined();
  });

  it.each(["ErrImagePull", "ImagePullBackOff"])("says that an image cannot be had (%s), with one event", (reason) => {
    const pod = podWith({ state: { waiting: { reason, message: "image nope:1 is not in the catalogue" } } });
    const first = plan(vmiWith({ phase: "Scheduling" }), [pod]);
    expect(condition(first, "Synchronized")).toMatchObject({ status: "False", reason });
    expect(first.events).toEqual([
      { type: "Warning", reason, message: "container compute: image nope:1 is not in the catalogue" },
    ]);
    const again = plan(vmiWith(first.status), [pod]);
    expect(again.events).toEqual([]);
    expect(again.status).toBeUndefined();
  });

  it("fails with the pod's reason when the pod fails", () => {
    const pod = podWith({ phase: "Failed", state: { terminated: { exitCode: 2, reason: "Error" } } });
    const result = plan(vmiWith({ phase: "Scheduling" }), [pod]);
    expect(result.status).toMatchObject({ phase: "Failed", reason: "LauncherPodFailed" });
    expect(result.events[0]?.message).toContain("exit code 2 (Error)");
  });

  it("is handed over when the pod's containers are ready, whatever its readiness gate says", () => {
    const pod = readyPod({
      conditions: [{ type: "Ready", status: "False", reason: "ReadinessGatesNotReady" }],
      metadata: { annotations: { "kubevirt.io/memory-overhead-bytes": "104857600" } },
    });
    const result = plan(vmiWith({ phase: "Scheduling", memory: { guestAtBoot: "1Gi" } }), [pod]);
    expect(result.status).toMatchObject({
      phase: "Scheduled",
      nodeName: "node-1",
      activePods: { "pod-uid": "node-1" },
      migrationTransport: "Unix",
      qosClass: "Burstable",
      launcherContainerImageVersion: "launcher:1",
      memory: { guestAtBoot: "1Gi", memoryOverhead: "100Mi" },
    });
    expect(result.metadata?.labels).toEqual({ [labels.nodeName]: "node-1" });
    expect(result.podConditions).toEqual([]);
  });

  it("is handed over before the guest can answer its probe: it is started only then", () => {
    const result = plan(vmiWith({ phase: "Scheduling" }), [readyPod({ ready: false })]);
    expect(result.status?.phase).toBe("Scheduled");
  });

  it("gets an address for sockets between it and its node when it asks for them", () => {
    const vmi = vmiWith({ phase: "Scheduling" });
    const devices = { autoattachVSOCK: true };
    const withSockets = { ...vmi, spec: { ...vmi.spec, domain: { ...vmi.spec.domain, devices } } };
    expect(plan(withSockets, [readyPod()]).status?.VSOCKCID).toBe(4711);
    expect(plan(vmi, [readyPod()]).status).not.toHaveProperty("VSOCKCID");
  });

  it("goes from Pending to Scheduled in one step when the pod is ready already", () => {
    const result = plan(vmiWith({ phase: "Pending" }), [readyPod()]);
    expect(result.status?.phaseTransitionTimestamps?.map(({ phase }) => phase)).toEqual(["Scheduling", "Scheduled"]);
  });
});

describe("a VMI that virt-handler owns", () => {
  const running = vmiWith({ phase: "Running", nodeName: "node-1" });

  it("opens the pod's readiness gate", () => {
    expect(plan(running, [readyPod()]).podConditions).toMatchObject([{ status: "True", reason: "NotPaused" }]);
    const open = readyPod({ conditions: [{ type: unpausedReadinessGate, status: "True" }] });
    expect(plan(running, [open]).podConditions).toEqual([]);
  });

  it("closes the gate while the guest is paused", () => {
    const paused = vmiWith({ phase: "Running", conditions: [{ type: "Paused", status: "True" }] });
    const open = readyPod({ conditions: [{ type: unpausedReadinessGate, status: "True" }] });
    expect(plan(paused, [open]).podConditions).toMatchObject([{ status: "False", reason: "Paused" }]);
  });

  it("is ready when its pod is", () => {
    const conditions = [
      { type: "Ready", status: "True" } as const,
      { type: unpausedReadinessGate, status: "True" } as const,
    ];
    const result = plan(running, [readyPod({ conditions })]);
    expect(condition(result, "Ready")).toMatchObject({ status: "True" });
    expect(result.status?.phase).toBe("Running");
  });

  it("does not report the readiness that opening the gate is about to change", () => {
    const closed = readyPod({ conditions: [{ type: "Ready", status: "False", reason: "ReadinessGatesNotReady" }] });
    expect(plan(running, [closed])).toMatchObject({ status: undefined, podConditions: [{ status: "True" }] });
  });

  it.each([
    ["gives virt-handler time when the pod has just ended", ended(1), { phase: "Running" }, HANDLER_GRACE_MS - 1000],
    [
      "ends the VMI when virt-handler stays silent",
      ended(20),
      { phase: "Failed", reason: "LauncherPodFailed" },
      undefined,
    ],
  ] as const)("%s", (_name, pod, status, requeueAfterMs) => {
    const result = plan(running, [pod]);
    expect({ ...running.status, ...result.status }).toMatchObject(status);
    expect(result.requeueAfterMs).toBe(requeueAfterMs);
  });

  it("ends when the pod is gone for long", () => {
    expect(plan(running, [], 1000)).toMatchObject({ requeueAfterMs: HANDLER_GRACE_MS - 1000 });
    expect(plan(running, [], HANDLER_GRACE_MS).status).toMatchObject({ phase: "Failed", reason: "LauncherPodMissing" });
  });

  it("deletes the pod of a deleted VMI and waits for the end", () => {
    const result = plan(vmiWith({ phase: "Running" }, terminating), [readyPod()]);
    expect(result.deletePods).toHaveLength(1);
    expect(result.release).toBe(false);
    const again = plan(vmiWith({ phase: "Running" }, terminating), [readyPod({ metadata: terminating })]);
    expect(again.deletePods).toEqual([]);
  });
});

describe("a VMI that has ended", () => {
  const at = (secondsAgo: number, phase: "Failed" | "Succeeded" = "Succeeded", ran = true) => ({
    phase,
    conditions: [{ type: "Ready", status: "False", reason: "GuestNotRunning" } as const],
    phaseTransitionTimestamps: [
      ...(ran ? [{ phase: "Running" as const, phaseTransitionTimestamp: "2026-01-01T00:00:00Z" }] : []),
      { phase, phaseTransitionTimestamp: new Date(NOW.getTime() - secondsAgo * 1000).toISOString() },
    ],
  });

  it("stays as it is, with its finished pod, until it is deleted", () => {
    const result = plan(vmiWith(at(3600)), [ended(3600, 0)]);
    expect(result).toMatchObject({ createPod: undefined, deletePods: [], release: false, requeueAfterMs: undefined });
  });

  it("loses a launcher at once whose guest never started: it has nothing to end with", () => {
    expect(plan(vmiWith(at(0, "Failed", false)), [readyPod()])).toMatchObject({ deletePods: [], requeueAfterMs: 2000 });
    expect(plan(vmiWith(at(2, "Failed", false)), [readyPod()]).deletePods).toHaveLength(1);
  });

  it("loses a launcher that does not end by itself", () => {
    expect(plan(vmiWith(at(10)), [readyPod()])).toMatchObject({ deletePods: [], requeueAfterMs: 50_000 });
    expect(plan(vmiWith(at(61)), [readyPod()]).deletePods).toHaveLength(1);
  });

  it.each([
    ["no pod is left", [], true],
    ["the pod has finished", [ended(5)], true],
    ["a pod still runs", [readyPod({ metadata: terminating })], false],
  ] as const)("when deleted and %s: released %s", (_name, pods, release) => {
    expect(plan(vmiWith(at(5), terminating), [...pods]).release).toBe(release);
  });

  it("is not released twice", () => {
    expect(plan(vmiWith(at(5), { ...terminating, finalizers: [] })).release).toBe(false);
  });
});
