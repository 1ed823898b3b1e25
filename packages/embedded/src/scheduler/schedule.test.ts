import type { Node, Pod, PodSpec, ReplicaSet } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { noClaims } from "./claims.ts";
import { defaultSpread } from "./default-spread.ts";
import { schedule } from "./schedule.ts";
import { createSnapshot } from "./snapshot.ts";

function node(name: string, more: Partial<Node> = {}): Node {
  return {
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...more.metadata?.labels } },
    spec: more.spec ?? {},
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "10", ...more.status?.allocatable } },
  };
}

let uid = 0;
function pod(spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod {
  return {
    metadata: { name: `p${++uid}`, namespace: "ns", uid: String(uid), labels },
    spec: { containers: [{ name: "c" }], ...spec },
  };
}

const asking = (requests: Record<string, string>): Partial<PodSpec> => ({
  containers: [{ name: "c", resources: { requests } }],
});

describe("schedule says why a pod fits nowhere", () => {
  const cases: [string, Node[], Pod[], Pod, string][] = [
    ["without nodes", [], [], pod(), "no nodes available to schedule pods"],
    ["memory", [node("a")], [], pod(asking({ memory: "100Gi" })), "0/1 nodes are available: 1 Insufficient memory."],
    [
      "several reasons of one node",
      [node("a")],
      [],
      pod(asking({ memory: "100Gi", cpu: "9", "example.com/dev": "1" })),
      "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com/dev, 1 Insufficient memory.",
    ],
    [
      "what other pods take",
      [node("a")],
      [pod({ ...asking({ cpu: "3" }), nodeName: "a" })],
      pod(asking({ cpu: "2" })),
      "0/1 nodes are available: 1 Insufficient cpu.",
    ],
    [
      "too many pods",
      [node("a", { status: { allocatable: { pods: "1" } } })],
      [pod({ nodeName: "a" })],
      pod(),
      "0/1 nodes are available: 1 Too many pods.",
    ],
    [
      "selector, taint and cordon, counted",
      [
        node("a"),
        node("b", { spec: { taints: [{ key: "k", value: "v", effect: "NoSchedule" }] } }),
        node("c", { spec: { unschedulable: true } }),
        node("d"),
      ],
      [],
      pod({ nodeSelector: { disk: "ssd" } }),
      "0/4 nodes are available: 1 node(s) had untolerated taint {k: v}, 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector.",
    ],
    [
      "anti-affinity of its own",
      [node("a")],
      [pod({ nodeName: "a" }, { app: "x" })],
      pod({
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "x" } } },
            ],
          },
        },
      }),
      "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
    ],
    [
      "anti-affinity of a pod that is there",
      [node("a")],
      [
        pod({
          nodeName: "a",
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "x" } } },
              ],
            },
          },
        }),
      ],
      pod({}, { app: "x" }),
      "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
    ],
    [
      "affinity to nobody",
      [node("a")],
      [],
      pod({
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "x" } } },
            ],
          },
        },
      }),
      "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.",
    ],
    [
      "host ports",
      [node("a")],
      [pod({ nodeName: "a", containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] })],
      pod({ containers: [{ name: "c", ports: [{ containerPort: 8080, hostPort: 80 }] }] }),
      "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
    ],
  ];
  it.each(cases)("%s", (_name, nodes, placed, wanted, message) => {
    expect(schedule(wanted, createSnapshot(nodes, placed))).toMatchObject({ fits: false, message });
  });
});

describe("schedule chooses", () => {
  const choose = (nodes: Node[], placed: Pod[], wanted: Pod): string | undefined => {
    const decision = schedule(wanted, createSnapshot(nodes, placed));
    return decision.fits ? decision.nodeName : undefined;
  };

  it("the node with more room", () => {
    expect(choose([node("a"), node("b")], [pod({ ...asking({ cpu: "2" }), nodeName: "a" })], pod())).toBe("b");
  });

  it("a node that does not count finished pods", () => {
    const finished: Pod = { ...pod({ ...asking({ cpu: "4" }), nodeName: "a" }), status: { phase: "Succeeded" } };
    expect(choose([node("a")], [finished], pod(asking({ cpu: "4" })))).toBe("a");
  });

  it("the preferred node, although another has more room", () => {
    const preferred = pod({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] } },
          ],
        },
      },
    });
    const nodes = [node("a"), node("b", { metadata: { labels: { disk: "ssd" } } })];
    expect(choose(nodes, [pod({ ...asking({ cpu: "2" }), nodeName: "b" })], preferred)).toBe("b");
  });

  it("not the node whose taint asks to be avoided", () => {
    const nodes = [node("a", { spec: { taints: [{ key: "k", effect: "PreferNoSchedule" }] } }), node("b")];
    expect(choose(nodes, [pod({ ...asking({ cpu: "2" }), nodeName: "b" })], pod())).toBe("b");
  });

  it("any node for the first pod that wants its own kind nearby", () => {
    const spec: Partial<PodSpec> = {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "x" } } },
          ],
        },
      },
    };
    expect(choose([node("a")], [], pod(spec, { app: "x" }))).toBe("a");
  });

  it("by field, as daemons are pinned", () => {
    const pinned = pod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }],
          },
        },
      },
    });
    expect(choose([node("a"), node("b")], [], pinned)).toBe("b");
  });

  it("the emptier domain for a spread constraint that only wishes", () => {
    const wish = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" } as const;
    const spread = pod(
      { topologySpreadConstraints: [{ ...wish, labelSelector: { matchLabels: { app: "x" } } }] },
      { app: "x" },
    );
    const placed = [pod({ nodeName: "a" }, { app: "x" }), pod({ nodeName: "b", ...asking({ cpu: "2" }) })];
    expect(choose([node("a"), node("b")], placed, spread)).toBe("b");
  });

  it("another node for each pod of a replica set, although one has more room and more pods are leaving", () => {
    const labels = { app: "x", hash: "new" };
    const member = (nodeName?: string): Pod => {
      const made = pod(nodeName === undefined ? {} : { nodeName }, labels);
      const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "set", uid: "1", controller: true }];
      return { ...made, metadata: { ...made.metadata, ownerReferences } };
    };
    const set: ReplicaSet = {
      metadata: { name: "set", namespace: "ns" },
      spec: { selector: { matchLabels: { hash: "new" } }, template: { spec: { containers: [] } } },
    };
    const groups = { services: () => [], replicaSet: (_: string, name: string) => (name === "set" ? set : undefined) };
    const old = ["b", "c", "c"].map((nodeName) =>
      pod({ ...asking({ cpu: "1" }), nodeName }, { app: "x", hash: "old" }),
    );
    const snapshot = createSnapshot([node("a"), node("b"), node("c")], old);
    const places = [1, 2, 3].map(() => {
      const next = member();
      const wishes = defaultSpread(next, groups);
      const decision = schedule(next, snapshot, { namespaceLabels: () => ({}), claims: noClaims, wishes });
      const place = decision.fits ? decision.nodeName : "";
      snapshot.place(next, place);
      return place;
    });
    expect(places).toEqual(["a", "b", "c"]);
  });

  it("only among the nodes and the pods that a spread constraint counts", () => {
    const rule = { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" } as const;
    const labelSelector = { matchLabels: { app: "x" } };
    const placed = [pod({ nodeName: "a" }, { app: "x", hash: "old" })];
    // The empty node is none that the pod could go to, so it does not make the other one too full.
    const bound = pod(
      {
        nodeSelector: { "kubernetes.io/hostname": "a" },
        topologySpreadConstraints: [{ ...rule, labelSelector }],
      },
      { app: "x", hash: "new" },
    );
    expect(choose([node("a"), node("b")], placed, bound)).toBe("a");
    const fresh = pod(
      { topologySpreadConstraints: [{ ...rule, labelSelector, matchLabelKeys: ["hash"] }] },
      { app: "x", hash: "new" },
    );
    expect(choose([node("a")], placed, fresh)).toBe("a");
  });

  it("the emptier domain for a spread constraint", () => {
    const spread = pod(
      {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { app: "x" } },
          },
        ],
      },
      { app: "x" },
    );
    const placed = [pod({ nodeName: "a" }, { app: "x" }), pod({ ...asking({ cpu: "3" }), nodeName: "b" })];
    expect(choose([node("a"), node("b")], placed, spread)).toBe("b");
  });
});
