import type { Pod, ReplicaSet } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { planReplicaSet } from "./replica-set-plan.ts";

const replicaSet = (replicas: number): ReplicaSet => ({ metadata: { name: "r" }, spec: { replicas, selector: {} } });

function pod(
  name: string,
  more: {
    node?: string;
    phase?: "Pending" | "Running" | "Failed";
    ready?: boolean;
    created?: string;
    deleted?: boolean;
  } = {},
): Pod {
  return {
    metadata: {
      name,
      creationTimestamp: more.created ?? "2026-01-01T00:00:00Z",
      ...(more.deleted === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { containers: [], ...(more.node === undefined ? {} : { nodeName: more.node }) },
    status: {
      phase: more.phase ?? "Pending",
      conditions: [{ type: "Ready", status: more.ready === true ? "True" : "False" }],
    },
  };
}

describe("planReplicaSet", () => {
  const good = { node: "n", phase: "Running", ready: true } as const;
  const cases: [string, number, Pod[], number, string[]][] = [
    ["creates what is missing", 3, [pod("a")], 2, []],
    ["does nothing when enough are there", 1, [pod("a")], 0, []],
    ["does not count failed and ending pods", 2, [pod("a", { phase: "Failed" }), pod("b", { deleted: true })], 2, []],
    ["removes unassigned pods first", 1, [pod("a", good), pod("b")], 0, ["b"]],
    ["removes unready pods before ready ones", 1, [pod("a", { ...good, ready: false }), pod("b", good)], 0, ["a"]],
    [
      "removes the youngest of equals",
      1,
      [pod("a", good), pod("b", { ...good, created: "2026-01-02T00:00:00Z" })],
      0,
      ["b"],
    ],
  ];
  it.each(cases)("%s", (_name, replicas, owned, create, remove) => {
    const plan = planReplicaSet(replicaSet(replicas), owned);
    expect(plan.create).toBe(create);
    expect(plan.remove.map(({ metadata }) => metadata.name)).toEqual(remove);
  });

  it("leaves everything to the garbage collector when it is deleted itself", () => {
    const deleted = { ...replicaSet(3), metadata: { name: "r", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(planReplicaSet(deleted, [])).toEqual({ create: 0, remove: [] });
  });
});
