import type { Pod, PodSpec, PodStatus } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import type { ContainerObservation, PodObservation } from "./pod-observation.ts";
import { podStatus, qosClass } from "./pod-status.ts";

const now = Date.parse("2026-01-01T00:00:10Z");
const startedAt = now - 5000;

function pod(spec: Partial<PodSpec> = {}, status?: PodStatus): Pod {
  const base: Pod = {
    metadata: { name: "p", namespace: "ns", uid: "u" },
    spec: { containers: [{ name: "main", image: "i" }], ...spec },
  };
  return status === undefined ? base : { ...base, status };
}

const running: ContainerObservation = {
  current: { attempt: 0, phase: "running", startedAt },
  started: true,
  ready: true,
};
const exited = (exitCode: number): ContainerObservation => ({
  current: { attempt: 0, phase: "exited", exitCode, startedAt, finishedAt: now },
  started: false,
  ready: false,
});

function status(
  given: Pod,
  containers: Record<string, ContainerObservation>,
  more: Partial<PodObservation> = {},
): PodStatus {
  const observation: PodObservation = { now, prepared: true, containers: new Map(Object.entries(containers)), ...more };
  return podStatus(given, observation, { hostIP: "127.0.0.1", podIP: "127.0.0.2", startTime: startedAt });
}

describe("phase", () => {
  const never: Partial<PodSpec> = { restartPolicy: "Never" };
  const init: Partial<PodSpec> = { initContainers: [{ name: "i" }] };
  const cases: [string, Pod, Record<string, ContainerObservation>, string][] = [
    ["nothing started", pod(), {}, "Pending"],
    [
      "starting",
      pod(),
      { main: { current: { attempt: 0, phase: "starting" }, started: false, ready: false } },
      "Pending",
    ],
    ["running", pod(), { main: running }, "Running"],
    ["init container runs", pod(init), { i: running }, "Pending"],
    ["waits for its restart", pod(), { main: exited(1) }, "Running"],
    ["succeeded", pod(never), { main: exited(0) }, "Succeeded"],
    ["failed", pod(never), { main: exited(3) }, "Failed"],
    ["init container failed for good", pod({ ...init, ...never }), { i: exited(1) }, "Failed"],
    ["what is final stays", pod(never, { phase: "Failed" }), { main: running }, "Failed"],
    [
      "done, but a sidecar still runs",
      pod({ ...never, initContainers: [{ name: "s", restartPolicy: "Always" }] }, { phase: "Running" }),
      { s: running, main: exited(0) },
      "Running",
    ],
  ];
  it.each(cases)("%s", (_name, given, containers, phase) => {
    expect(status(given, containers).phase).toBe(phase);
  });

  it("fails with the reason when the kubelet ends the pod", () => {
    const ended = { reason: "DeadlineExceeded", message: "too long" };
    expect(status(pod(), { main: exited(137) }, { ended })).toMatchObject({ phase: "Failed", ...ended });
    expect(status(pod(), { main: running }, { ended }).phase).toBe("Pending");
  });
});

describe("container status", () => {
  const only = (given: Pod, seen: ContainerObservation): unknown =>
    status(given, { main: seen }).containerStatuses?.[0];

  it("shows a running container", () => {
    expect(only(pod(), running)).toEqual({
      name: "main",
      state: { running: { startedAt: "2026-01-01T00:00:05Z" } },
      lastState: {},
      ready: true,
      started: true,
      restartCount: 0,
      image: "i",
      imageID: "i",
      containerID: "polyvirt://u/main/0",
    });
  });

  it("shows a crash loop with the last run beside it", () => {
    const seen: ContainerObservation = { ...exited(2), backOff: { until: now + 20_000, delayMs: 20_000 } };
    expect(only(pod(), seen)).toMatchObject({
      state: {
        waiting: { reason: "CrashLoopBackOff", message: "back-off 20s restarting failed container=main pod=p_ns(u)" },
      },
      lastState: { terminated: { exitCode: 2, reason: "Error" } },
      ready: false,
    });
  });

  it("shows why an image is not there", () => {
    const waiting = { reason: "ErrImagePull", message: "not in the catalogue", until: now };
    expect(only(pod(), { started: false, ready: false, waiting })).toMatchObject({
      state: { waiting: { reason: "ErrImagePull", message: "not in the catalogue" } },
      imageID: "",
    });
  });

  it("waits for init containers", () => {
    const given = pod({ initContainers: [{ name: "i" }] });
    const result = status(given, { i: running });
    expect(result.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: "PodInitializing" } });
    expect(result.initContainerStatuses?.[0]).toMatchObject({ ready: false, state: { running: {} } });
  });

  it("says what a container said about its end", () => {
    const seen: ContainerObservation = {
      started: false,
      ready: false,
      current: { attempt: 3, phase: "exited", exitCode: 1, finishedAt: now, message: "no config" },
    };
    expect(only(pod({ restartPolicy: "Never" }), seen)).toMatchObject({
      restartCount: 3,
      state: { terminated: { exitCode: 1, reason: "Error", message: "no config" } },
    });
  });
});

describe("conditions", () => {
  const condition = (result: PodStatus, type: string): unknown => result.conditions?.find((item) => item.type === type);

  it("is ready when all containers are", () => {
    const result = status(pod(), { main: running });
    for (const type of ["PodScheduled", "Initialized", "ContainersReady", "Ready", "PodReadyToStartContainers"]) {
      expect(condition(result, type)).toMatchObject({ status: "True" });
    }
  });

  it("names the containers that are not ready", () => {
    const result = status(pod(), { main: { ...running, ready: false } });
    expect(condition(result, "Ready")).toMatchObject({
      status: "False",
      reason: "ContainersNotReady",
      message: "containers with unready status: [main]",
    });
  });

  it("waits for readiness gates", () => {
    const gates = { readinessGates: [{ conditionType: "example.com/gate" }] };
    const waiting = status(pod(gates), { main: running });
    expect(condition(waiting, "Ready")).toMatchObject({ status: "False", reason: "ReadinessGatesNotReady" });
    expect(condition(waiting, "ContainersReady")).toMatchObject({ status: "True" });
    const open = pod(gates, { conditions: [{ type: "example.com/gate", status: "True" }] });
    expect(condition(status(open, { main: running }), "Ready")).toMatchObject({ status: "True" });
  });

  it("keeps the time of the last change", () => {
    const before: PodStatus = {
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" }],
    };
    expect(condition(status(pod({}, before), { main: running }), "Ready")).toMatchObject({
      lastTransitionTime: "2025-01-01T00:00:00Z",
    });
    expect(condition(status(pod({}, before), { main: { ...running, ready: false } }), "Ready")).toMatchObject({
      lastTransitionTime: "2026-01-01T00:00:10Z",
    });
  });

  it("is completed after success", () => {
    const result = status(pod({ restartPolicy: "Never" }), { main: exited(0) });
    expect(condition(result, "Ready")).toMatchObject({ status: "False", reason: "PodCompleted" });
    expect(condition(result, "Initialized")).toMatchObject({ status: "True" });
  });
});

describe("qosClass", () => {
  const withResources = (resources: object): Pick<Pod, "spec"> => ({
    spec: { containers: [{ name: "c", resources }] },
  });
  it.each([
    ["BestEffort", {}],
    ["Burstable", { requests: { cpu: "1" } }],
    ["Burstable", { limits: { cpu: "1" } }],
    ["Burstable", { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "1Gi" } }],
    ["Guaranteed", { limits: { cpu: "1", memory: "1Gi" } }],
    ["BestEffort", { requests: { "example.com/dev": "1" } }],
  ])("%s for %j", (expected, resources) => {
    expect(qosClass(withResources(resources))).toBe(expected);
  });
});
