import type { Pod, PodDisruptionBudget, ReplicaSet } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { budgetStatus } from "./disruption-plan.ts";

const now = Date.parse("2026-01-01T00:10:00Z");
const replicaSet: ReplicaSet = { metadata: { uid: "rs" }, spec: { replicas: 4, selector: {} } };

function pods(count: number, ready = count, owned = true): Pod[] {
  return Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `p${index}`,
      namespace: "ns",
      labels: { app: "a" },
      ...(owned
        ? { ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "rs", uid: "rs", controller: true }] }
        : {}),
    },
    spec: { containers: [] },
    status: { conditions: [{ type: "Ready", status: index < ready ? "True" : "False" }] },
  }));
}

function budget(
  spec: NonNullable<PodDisruptionBudget["spec"]>,
  disruptedPods: Record<string, string> = {},
): PodDisruptionBudget {
  const status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, disruptedPods };
  return {
    metadata: { name: "b", namespace: "ns" },
    spec: { selector: { matchLabels: { app: "a" } }, ...spec },
    status,
  };
}

describe("budgetStatus", () => {
  it.each<[string, PodDisruptionBudget, Pod[], number, number, number]>([
    ["all but the needed ones may go", budget({ minAvailable: 2 }), pods(4), 2, 2, 4],
    ["unready pods are no reserve", budget({ minAvailable: 2 }), pods(4, 2), 0, 2, 4],
    ["a share of what the owner wants, rounded up", budget({ minAvailable: "30%" }), pods(4), 2, 2, 4],
    ["at most so many away, of what the owner wants", budget({ maxUnavailable: 1 }), pods(3), 0, 3, 4],
    ["pods without an owner count themselves", budget({ maxUnavailable: 1 }), pods(3, 3, false), 1, 2, 3],
    ["nothing to disrupt", budget({ maxUnavailable: 1 }), [], 0, 0, 0],
    ["granted evictions count", budget({ minAvailable: 2 }, { p0: "2026-01-01T00:09:30Z" }), pods(4), 1, 2, 4],
    ["forgotten ones do not", budget({ minAvailable: 2 }, { p0: "2026-01-01T00:00:00Z" }), pods(4), 2, 2, 4],
    [
      "nor those of pods that are gone",
      budget({ minAvailable: 2 }, { gone: "2026-01-01T00:09:59Z" }),
      pods(4),
      2,
      2,
      4,
    ],
  ])("%s", (_name, object, all, disruptionsAllowed, desiredHealthy, expectedPods) => {
    const { status } = budgetStatus(object, all, (uid) => (uid === "rs" ? replicaSet : undefined), now);
    expect(status).toMatchObject({ disruptionsAllowed, desiredHealthy, expectedPods });
  });
});
