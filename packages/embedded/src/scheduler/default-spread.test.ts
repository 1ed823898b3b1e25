import type { Pod, ReplicaSet, Service } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { defaultSpread } from "./default-spread.ts";

const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "1", controller: true };
const pod = (more: Partial<Pod["metadata"]> = {}, spec: Partial<Pod["spec"]> = {}): Pod => ({
  metadata: { name: "p", namespace: "ns", labels: { app: "web", hash: "1" }, ...more },
  spec: { containers: [], ...spec },
});
const service = (namespace: string, selector?: Record<string, string>): Service => ({
  metadata: { name: "s", namespace },
  spec: selector === undefined ? {} : { selector },
});
const set: ReplicaSet = {
  metadata: { name: "web-1", namespace: "ns" },
  spec: { selector: { matchLabels: { hash: "1" } }, template: { spec: { containers: [] } } },
};
const groups = (...services: Service[]) => ({
  services: () => services,
  replicaSet: (namespace: string, name: string) => (namespace === "ns" && name === "web-1" ? set : undefined),
});

describe("defaultSpread", () => {
  it.each([
    ["its replica set", pod({ ownerReferences: [owner] }), groups(), { hash: "1" }],
    ["its services", pod(), groups(service("ns", { app: "web" })), { app: "web" }],
    [
      "both at once",
      pod({ ownerReferences: [owner] }),
      groups(service("ns", { app: "web" })),
      { app: "web", hash: "1" },
    ],
  ])("spreads a pod by %s, over nodes and zones", (_what, wanted, found, matchLabels) => {
    const wish = { whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels, matchExpressions: [] } };
    expect(defaultSpread(wanted, found)).toEqual([
      { maxSkew: 3, topologyKey: "kubernetes.io/hostname", ...wish },
      { maxSkew: 5, topologyKey: "topology.kubernetes.io/zone", ...wish },
    ]);
  });

  const own = { maxSkew: 1, topologyKey: "x", whenUnsatisfiable: "ScheduleAnyway" } as const;
  it.each([
    ["belongs to nobody", pod(), groups()],
    ["is not served", pod(), groups(service("ns", { app: "db" }), service("other", { app: "web" }), service("ns"))],
    ["says itself how", pod({ ownerReferences: [owner] }, { topologySpreadConstraints: [own] }), groups()],
  ])("leaves a pod alone that %s", (_what, wanted, found) => {
    expect(defaultSpread(wanted, found)).toEqual([]);
  });
});
