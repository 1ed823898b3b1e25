import type { Container, Pod, PodSpec } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import type { ContainerObservation, Instance, PodObservation } from "./pod-observation.ts";
import { planPod, type PodAction } from "./pod-plan.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

function pod(spec: Partial<PodSpec> = {}, metadata: Pod["metadata"] = {}): Pod {
  return { metadata: { name: "p", uid: "u", ...metadata }, spec: { containers: [{ name: "main" }], ...spec } };
}

const running: ContainerObservation = {
  current: { attempt: 0, phase: "running", startedAt: now },
  started: true,
  ready: true,
};
const exited = (exitCode: number, more: Partial<Instance> = {}): ContainerObservation => ({
  current: { attempt: 0, phase: "exited", exitCode, finishedAt: now, ...more },
  started: false,
  ready: false,
});

function seen(containers: Record<string, ContainerObservation>, more: Partial<PodObservation> = {}): PodObservation {
  return { now, prepared: true, containers: new Map(Object.entries(containers)), ...more };
}

const init = (name: string): Container => ({ name });
const sidecar = (name: string): Container => ({ name, restartPolicy: "Always" });
const start = (container: string, attempt = 0): PodAction => ({ kind: "start", container, attempt });

describe("planPod", () => {
  const cases: [string, Pod, PodObservation, readonly PodAction[]][] = [
    ["prepares first", pod(), seen({}, { prepared: false }), [{ kind: "prepare" }]],
    ["waits before preparing again", pod(), seen({}, { prepared: false, prepareAgainAt: now + 1 }), []],
    ["starts the container", pod(), seen({}), [start("main")]],
    ["leaves a running one alone", pod(), seen({ main: running }), []],
    ["restarts one that ended well, by policy Always", pod(), seen({ main: exited(0) }), [start("main", 1)]],
    [
      "does not restart with OnFailure after success",
      pod({ restartPolicy: "OnFailure" }),
      seen({ main: exited(0) }),
      [],
    ],
    [
      "restarts with OnFailure after failure",
      pod({ restartPolicy: "OnFailure" }),
      seen({ main: exited(1) }),
      [start("main", 1)],
    ],
    ["never restarts with Never", pod({ restartPolicy: "Never" }), seen({ main: exited(1) }), []],
    ["waits for the back-off", pod(), seen({ main: { ...exited(1), backOff: { until: now + 5, delayMs: 5 } } }), []],
    [
      "waits for the image",
      pod(),
      seen({
        main: { started: false, ready: false, waiting: { reason: "ErrImagePull", message: "", until: now + 5 } },
      }),
      [],
    ],
    ["runs init containers first", pod({ initContainers: [init("i"), init("j")] }), seen({}), [start("i")]],
    [
      "goes on to the next init container",
      pod({ initContainers: [init("i"), init("j")] }),
      seen({ i: exited(0) }),
      [start("j")],
    ],
    ["repeats a failed init container", pod({ initContainers: [init("i")] }), seen({ i: exited(1) }), [start("i", 1)]],
    [
      "gives up on a failed init container with Never",
      pod({ initContainers: [init("i")], restartPolicy: "Never" }),
      seen({ i: exited(1) }),
      [],
    ],
    [
      "starts the containers after the init containers",
      pod({ initContainers: [init("i")] }),
      seen({ i: exited(0) }),
      [start("main")],
    ],
    [
      "does not run init containers again when a container restarts",
      pod({ initContainers: [init("i")] }),
      seen({ main: exited(1) }),
      [start("main", 1)],
    ],
    [
      "waits for a sidecar to have started",
      pod({ initContainers: [sidecar("s")] }),
      seen({ s: { ...running, started: false } }),
      [],
    ],
    [
      "goes on once the sidecar has started",
      pod({ initContainers: [sidecar("s")] }),
      seen({ s: running }),
      [start("main")],
    ],
    [
      "restarts a sidecar that ended beside its container",
      pod({ initContainers: [sidecar("s")] }),
      seen({ s: exited(0), main: running }),
      [start("s", 1)],
    ],
    [
      "ends sidecars when the work is done",
      pod({ initContainers: [sidecar("s")], restartPolicy: "Never" }),
      seen({ s: running, main: exited(0) }),
      [{ kind: "stop", container: "s", deadline: now + 30_000, why: "Stopping container" }],
    ],
    [
      "kills a container whose liveness probe failed",
      pod({ terminationGracePeriodSeconds: 7 }),
      seen({ main: { ...running, failedProbe: "liveness" } }),
      [
        {
          kind: "stop",
          container: "main",
          deadline: now + 7000,
          why: "Container main failed liveness probe, will be restarted",
        },
      ],
    ],
    [
      "stops what runs when the node shuts down, and starts nothing",
      pod({ containers: [{ name: "main" }, { name: "other" }], terminationGracePeriodSeconds: 1 }),
      seen({ main: running }, { halting: true }),
      [{ kind: "stop", container: "main", deadline: now + 1000, why: "Stopping container" }],
    ],
  ];
  it.each(cases)("%s", (_name, given, observation, actions) => {
    expect(planPod(given, observation).actions).toEqual(actions);
  });
});

describe("planPod of a pod that is being deleted", () => {
  const deadline = now + 5000;
  const deleted = (spec: Partial<PodSpec> = {}): Pod =>
    pod(spec, { deletionTimestamp: new Date(deadline).toISOString() });
  const stop = (container: string): PodAction => ({ kind: "stop", container, deadline, why: "Stopping container" });
  const asked = { deadline, killed: false };

  const cases: [string, Pod, PodObservation, readonly PodAction[]][] = [
    ["asks its containers to end", deleted(), seen({ main: running }), [stop("main")]],
    ["waits for them", deleted(), seen({ main: { ...running, stopping: asked } }), []],
    [
      "kills them at the deadline",
      deleted(),
      seen({ main: { ...running, stopping: asked } }, { now: deadline }),
      [{ kind: "kill", container: "main" }],
    ],
    [
      "kills once",
      deleted(),
      seen({ main: { ...running, stopping: { ...asked, killed: true } } }, { now: deadline }),
      [],
    ],
    ["removes it when all have ended", deleted(), seen({ main: exited(0) }), [{ kind: "remove" }]],
    ["removes one that never started", deleted(), seen({}, { prepared: false }), [{ kind: "remove" }]],
    [
      "ends sidecars after the others, the last first",
      deleted({ initContainers: [sidecar("s"), sidecar("t")] }),
      seen({ s: running, t: running, main: exited(0) }),
      [stop("t")],
    ],
    [
      "keeps sidecars while others run",
      deleted({ initContainers: [sidecar("s")] }),
      seen({ s: running, main: { ...running, stopping: asked } }),
      [],
    ],
    [
      "does not start anything",
      deleted({ containers: [{ name: "main" }, { name: "b" }] }),
      seen({ main: running }),
      [stop("main")],
    ],
  ];
  it.each(cases)("%s", (_name, given, observation, actions) => {
    expect(planPod(given, observation).actions).toEqual(actions);
  });

  it("looks again at the deadline", () => {
    expect(planPod(deleted(), seen({ main: { ...running, stopping: asked } })).wakeAt).toBe(deadline);
  });
});
