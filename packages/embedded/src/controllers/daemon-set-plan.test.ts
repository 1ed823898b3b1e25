import type { DaemonSet, Node, Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { daemonPod, daemonSetStatus, planDaemonSet, revisionLabel } from "./daemon-set-plan.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

function daemonSet(spec: Partial<DaemonSet["spec"]> = {}): DaemonSet {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "d", namespace: "ns", uid: "u" },
    spec: {
      selector: {},
      template: { metadata: { labels: { app: "d" } }, spec: { containers: [], nodeSelector: { role: "worker" } } },
      ...spec,
    },
  };
}

const node = (name: string, more: Partial<Node> = {}): Node => ({
  metadata: { name, labels: { role: "worker" } },
  ...more,
});

function daemon(
  name: string,
  nodeName: string,
  more: { revision?: string; ready?: boolean; pod?: Partial<Pod> } = {},
): Pod {
  return {
    metadata: { name, uid: name, labels: { [revisionLabel]: more.revision ?? "new" }, ...more.pod?.metadata },
    spec: { containers: [], nodeName },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: more.ready === false ? "False" : "True" }],
      ...more.pod?.status,
    },
  };
}

const old = { revision: "old" };

describe("planDaemonSet", () => {
  const cases: [string, Partial<DaemonSet["spec"]>, Node[], Pod[], { create: string[]; remove: string[] }][] = [
    ["one pod on each node", {}, [node("a"), node("b")], [], { create: ["a", "b"], remove: [] }],
    ["nothing to do", {}, [node("a")], [daemon("p", "a")], { create: [], remove: [] }],
    ["not on nodes without the label", {}, [node("a", { metadata: { name: "a" } })], [], { create: [], remove: [] }],
    [
      "leaves a node that lost its label",
      {},
      [node("a", { metadata: { name: "a" } })],
      [daemon("p", "a")],
      { create: [], remove: ["p"] },
    ],
    [
      "not on tainted nodes",
      {},
      [node("a", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } })],
      [],
      { create: [], remove: [] },
    ],
    [
      "also on cordoned and silent nodes",
      {},
      [
        node("a", {
          spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
        }),
        node("b", { spec: { taints: [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }] } }),
      ],
      [],
      { create: ["a", "b"], remove: [] },
    ],
    [
      "waits for the one that is ending",
      {},
      [node("a")],
      [daemon("p", "a", { pod: { metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } } })],
      { create: [], remove: [] },
    ],
    [
      "replaces a failed one",
      {},
      [node("a")],
      [daemon("p", "a", { pod: { status: { phase: "Failed" } } })],
      { create: ["a"], remove: ["p"] },
    ],
    ["removes a pod of a node that is gone", {}, [], [daemon("p", "gone")], { create: [], remove: ["p"] }],
    [
      "updates one at a time",
      {},
      [node("a"), node("b")],
      [daemon("p", "a", old), daemon("q", "b", old)],
      { create: [], remove: ["p"] },
    ],
    [
      "does not go on while one is away",
      {},
      [node("a"), node("b")],
      [daemon("p", "a", { ready: false }), daemon("q", "b", old)],
      { create: [], remove: [] },
    ],
    [
      "replaces outdated ones that do not serve in any case",
      {},
      [node("a"), node("b")],
      [daemon("p", "a", { ready: false }), daemon("q", "b", { ...old, ready: false })],
      { create: [], remove: ["q"] },
    ],
    [
      "honours maxUnavailable",
      { updateStrategy: { rollingUpdate: { maxUnavailable: "100%" } } },
      [node("a"), node("b")],
      [daemon("p", "a", old), daemon("q", "b", old)],
      { create: [], remove: ["p", "q"] },
    ],
    [
      "leaves updates to the user with OnDelete",
      { updateStrategy: { type: "OnDelete" } },
      [node("a")],
      [daemon("p", "a", old)],
      { create: [], remove: [] },
    ],
  ];
  it.each(cases)("%s", (_name, spec, nodes, owned, expected) => {
    const plan = planDaemonSet(daemonSet(spec), nodes, owned, "new", now);
    expect({ create: plan.create, remove: plan.remove.map(({ metadata }) => metadata.name) }).toEqual(expected);
  });
});

describe("daemonPod", () => {
  it("is pinned to its node and counts for it before it is bound", () => {
    const pod: Pod = { ...daemonPod(daemonSet(), "a", "new"), metadata: { name: "p", uid: "p" } };
    expect(planDaemonSet(daemonSet(), [node("a")], [pod], "new", now).create).toEqual([]);
    expect(daemonPod(daemonSet(), "a", "new").metadata.ownerReferences).toMatchObject([{ uid: "u" }]);
  });
});

describe("daemonSetStatus", () => {
  it("counts", () => {
    const nodes = [node("a"), node("b"), node("c"), node("x", { metadata: { name: "x" } })];
    const owned = [daemon("p", "a"), daemon("q", "b", { ...old, ready: false }), daemon("r", "x")];
    expect(daemonSetStatus(daemonSet(), nodes, owned, "new", now)).toMatchObject({
      desiredNumberScheduled: 3,
      currentNumberScheduled: 2,
      numberReady: 1,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
      numberUnavailable: 2,
      numberMisscheduled: 1,
    });
  });
});
