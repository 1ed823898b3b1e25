import type { Node, Pod, PodDisruptionBudget, PodSpec } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { noClaims } from "./claims.ts";
import { planPreemption, type Preemption } from "./preemption.ts";
import { schedule } from "./schedule.ts";
import { createSnapshot } from "./snapshot.ts";

const node = (name: string, more: Partial<Node> = {}): Node => ({
  metadata: { name, labels: { "kubernetes.io/hostname": name } },
  status: { allocatable: { cpu: "4", pods: "10" } },
  ...more,
});

function pod(name: string, cpu: string, priority: number, more: Partial<PodSpec> = {}, labels = {}): Pod {
  return {
    metadata: { name, uid: name, namespace: "ns", labels },
    spec: { containers: [{ name: "c", resources: { requests: { cpu } } }], priority, ...more },
  };
}

const budget = (app: string, disruptionsAllowed: number): PodDisruptionBudget => ({
  metadata: { name: app, namespace: "ns" },
  spec: { selector: { matchLabels: { app } } },
  status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
});

function preempt(incoming: Pod, nodes: Node[], pods: Pod[], budgets: PodDisruptionBudget[] = []): Preemption {
  const snapshot = createSnapshot(nodes, pods);
  const context = { namespaceLabels: () => ({}), claims: noClaims, budgets };
  const decision = schedule(incoming, snapshot, context);
  if (decision.fits) throw new Error("the pod fits without preemption");
  return planPreemption(incoming, snapshot, decision.crowded, context);
}

const victims = (result: Preemption): string =>
  result.kind === "victims"
    ? `${result.nodeName}: ${result.victims.map(({ metadata }) => metadata.name).join(" ")}`
    : result.message;

describe("planPreemption", () => {
  const full = [pod("low", "3", 0, { nodeName: "a" }), pod("mid", "3", 5, { nodeName: "b" })];
  it.each<[string, Pod, Node[], Pod[], PodDisruptionBudget[], string]>([
    ["takes the least important victim", pod("new", "3", 10), [node("a"), node("b")], full, [], "a: low"],
    [
      "takes no more victims than needed, the least important ones",
      pod("new", "2", 10),
      [node("a")],
      [pod("x", "1", 1, { nodeName: "a" }), pod("y", "2", 2, { nodeName: "a" }), pod("z", "1", 0, { nodeName: "a" })],
      [],
      "a: x z",
    ],
    [
      "spares a disruption budget",
      pod("new", "3", 10),
      [node("a"), node("b")],
      [pod("low", "3", 0, { nodeName: "a" }, { app: "kept" }), pod("mid", "3", 5, { nodeName: "b" })],
      [budget("kept", 0)],
      "b: mid",
    ],
    [
      "violates a budget when there is no other way",
      pod("new", "3", 10),
      [node("a")],
      [pod("low", "3", 0, { nodeName: "a" }, { app: "kept" })],
      [budget("kept", 0)],
      "a: low",
    ],
    [
      "never takes equal priority, nor nodes that would not do anyway",
      pod("new", "3", 5, { nodeSelector: { "kubernetes.io/hostname": "b" } }),
      [node("a"), node("b")],
      full,
      [],
      "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
    ],
    [
      "does not help where the node is too small",
      pod("new", "9", 10),
      [node("a"), node("b")],
      full,
      [],
      "0/2 nodes are available: 2 Insufficient cpu.",
    ],
    [
      "respects the policy",
      pod("new", "3", 10, { preemptionPolicy: "Never" }),
      [node("a")],
      full,
      [],
      "not eligible due to preemptionPolicy=Never.",
    ],
    [
      "removes what keeps a pod away by anti-affinity",
      pod("new", "1", 10, {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "rival" } } },
            ],
          },
        },
      }),
      [node("a")],
      [pod("other", "1", 0, { nodeName: "a" }), pod("rival", "1", 0, { nodeName: "a" }, { app: "rival" })],
      [],
      "a: rival",
    ],
  ])("%s", (_name, incoming, nodes, pods, budgets, expected) => {
    expect(victims(preempt(incoming, nodes, pods, budgets))).toBe(expected);
  });

  it("waits for victims that are on their way out", () => {
    const leaving = pod("low", "3", 0, { nodeName: "a" });
    leaving.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    const incoming: Pod = { ...pod("new", "3", 10), status: { nominatedNodeName: "a" } };
    expect(victims(preempt(incoming, [node("a")], [leaving]))).toBe(
      "not eligible due to a terminating pod on the nominated node.",
    );
  });
});
