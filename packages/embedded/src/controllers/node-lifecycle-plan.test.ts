import type { Lease, Node, Pod, Taint, Toleration } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { judgeNode, planEviction } from "./node-lifecycle-plan.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();
const lease = (seconds: number): Lease => ({ metadata: {}, spec: { renewTime: ago(seconds) } });

function node(ready: "True" | "False" | "Unknown", more: Partial<NonNullable<Node["spec"]>> = {}): Node {
  return {
    metadata: { name: "n", creationTimestamp: ago(3600) },
    spec: more,
    status: { conditions: [{ type: "Ready", status: ready }] },
  };
}

const keys = (taints: readonly Taint[] | undefined): string[] | undefined =>
  taints?.map(({ key, effect }) => `${key}:${effect}`);

describe("judgeNode", () => {
  const unreachable = ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"];
  const taintsOf = (list: string[]): Taint[] =>
    // The list above is written in this form.
    list.map((text) => ({ key: text.split(":")[0] ?? "", effect: text.split(":")[1] as Taint["effect"] }));

  it.each([
    ["a node that reports", node("True"), lease(5), undefined, undefined],
    ["a node that was silent for a short while", node("True"), lease(39), undefined, undefined],
    ["a silent node", node("True"), lease(41), "Unknown", unreachable],
    ["a node that never had a lease", node("True"), undefined, "Unknown", unreachable],
    [
      "a node that is known to be silent",
      node("Unknown", { taints: taintsOf(unreachable) }),
      lease(100),
      undefined,
      undefined,
    ],
    ["a node that came back", node("True", { taints: taintsOf(unreachable) }), lease(1), undefined, []],
    [
      "a node that says it is not ready",
      node("False"),
      lease(1),
      undefined,
      ["node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"],
    ],
    [
      "a cordoned node",
      node("True", { unschedulable: true }),
      lease(1),
      undefined,
      ["node.kubernetes.io/unschedulable:NoSchedule"],
    ],
    [
      "a node with a taint of somebody else",
      node("True", { taints: [{ key: "k", effect: "NoSchedule" }] }),
      lease(1),
      undefined,
      undefined,
    ],
  ] as const)("%s", (_name, given, heard, status, taints) => {
    const verdict = judgeNode(given, heard, now);
    expect(verdict.conditions?.[0]?.status).toBe(status);
    expect(keys(verdict.taints)).toEqual(taints);
  });

  it("looks again when the silence would be too long", () => {
    expect(judgeNode(node("True"), lease(10), now).againAt).toBe(now + 31_000);
  });
});

describe("planEviction", () => {
  const silent: Node = { metadata: {}, spec: { taints: [{ key: "k", effect: "NoExecute", timeAdded: ago(100) }] } };
  const pod = (name: string, tolerations: Toleration[], deleted = false): Pod => ({
    metadata: { name, ...(deleted ? { deletionTimestamp: ago(1) } : {}) },
    spec: { containers: [], tolerations },
  });

  it("evicts who does not tolerate it, or not for this long", () => {
    const pods = [
      pod("none", []),
      pod("short", [{ key: "k", operator: "Exists", tolerationSeconds: 99 }]),
      pod("long", [{ key: "k", operator: "Exists", tolerationSeconds: 300 }]),
      pod("ever", [{ operator: "Exists" }]),
      pod("going", [], true),
    ];
    const plan = planEviction(silent, pods, now);
    expect(plan.evict.map(({ metadata }) => metadata.name)).toEqual(["none", "short"]);
    expect(plan.againAt).toBe(now + 200_000);
  });

  it("evicts nobody from a healthy node", () => {
    expect(planEviction({ metadata: {} }, [pod("none", [])], now)).toEqual({ evict: [] });
  });
});
