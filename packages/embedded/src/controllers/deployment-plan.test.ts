import type { Deployment, ReplicaSet } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { hashLabel, planDeployment, revisionAnnotation, type DeploymentAction } from "./deployment-plan.ts";

function deployment(spec: Partial<Deployment["spec"]> = {}): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", namespace: "ns", uid: "u" },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "x" } },
      template: { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "new" }] } },
      ...spec,
    },
  };
}

function replicaSet(image: string, replicas: number, available: number, revision: number): ReplicaSet {
  return {
    metadata: { name: image, annotations: { [revisionAnnotation]: String(revision) } },
    spec: {
      replicas,
      selector: {},
      template: {
        metadata: { labels: { app: "x", [hashLabel]: image } },
        spec: { containers: [{ name: "c", image }] },
      },
    },
    status: { replicas, availableReplicas: available },
  };
}

/** `create 4`, `new 2→3`: short enough to read in a table. */
function describeActions(actions: readonly DeploymentAction[]): string[] {
  return actions.map((action) => {
    switch (action.kind) {
      case "create":
        return `create ${action.replicaSet.spec.replicas}`;
      case "scale":
        return `${action.replicaSet.metadata.name} ${action.replicaSet.spec.replicas}→${action.replicas}`;
      case "annotate":
        return `${action.replicaSet.metadata.name} is revision ${action.revision}`;
      case "delete":
        return `delete ${action.replicaSet.metadata.name}`;
    }
  });
}

describe("planDeployment", () => {
  const fixed = (maxSurge: number | string, maxUnavailable: number | string): Partial<Deployment["spec"]> => ({
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
  });
  const cases: [string, Partial<Deployment["spec"]>, ReplicaSet[], string[]][] = [
    ["creates the first replica set at full size", {}, [], ["create 4"]],
    ["does nothing when all is well", {}, [replicaSet("new", 4, 4, 1)], []],
    ["scales", { replicas: 6 }, [replicaSet("new", 4, 4, 1)], ["new 4→6"]],
    ["scales to nothing", { replicas: 0 }, [replicaSet("new", 4, 4, 1)], ["new 4→0"]],
    ["begins a rollout with the surge", {}, [replicaSet("old", 4, 4, 1)], ["create 1"]],
    [
      "shrinks the old one as far as enough pods serve",
      {},
      [replicaSet("old", 4, 4, 1), replicaSet("new", 1, 0, 2)],
      ["old 4→3"],
    ],
    ["grows into the room", {}, [replicaSet("old", 3, 3, 1), replicaSet("new", 1, 1, 2)], ["new 1→2", "old 3→2"]],
    ["waits while too few serve", {}, [replicaSet("old", 2, 2, 1), replicaSet("new", 3, 1, 2)], []],
    [
      "removes pods that never served at once",
      {},
      [replicaSet("old", 4, 0, 1), replicaSet("new", 1, 0, 2)],
      ["old 4→0"],
    ],
    ["moves without surge", fixed(0, 1), [replicaSet("old", 4, 4, 1), replicaSet("new", 0, 0, 2)], ["old 4→3"]],
    [
      "moves although both limits are zero",
      fixed(0, 0),
      [replicaSet("old", 4, 4, 1), replicaSet("new", 0, 0, 2)],
      ["old 4→3"],
    ],
    [
      "rolls back to an older revision",
      {},
      [replicaSet("new", 0, 0, 1), replicaSet("old", 4, 4, 2)],
      ["new is revision 3", "new 0→1", "old 4→3"],
    ],
    [
      "ends everything old before it recreates",
      { strategy: { type: "Recreate" } },
      [replicaSet("old", 4, 4, 1), replicaSet("new", 0, 0, 2)],
      ["old 4→0"],
    ],
    [
      "waits for the old pods before it recreates",
      { strategy: { type: "Recreate" } },
      [{ ...replicaSet("old", 0, 0, 1), status: { replicas: 2 } }, replicaSet("new", 0, 0, 2)],
      [],
    ],
    [
      "then recreates",
      { strategy: { type: "Recreate" } },
      [replicaSet("old", 0, 0, 1), replicaSet("new", 0, 0, 2)],
      ["new 0→4"],
    ],
    ["does not roll while paused", { paused: true }, [replicaSet("old", 4, 4, 1)], []],
    ["scales while paused", { paused: true, replicas: 5 }, [replicaSet("old", 4, 4, 1)], ["old 4→5"]],
    [
      "forgets old revisions",
      { revisionHistoryLimit: 1 },
      [replicaSet("a", 0, 0, 1), replicaSet("b", 0, 0, 2), replicaSet("new", 4, 4, 3)],
      ["delete a"],
    ],
  ];
  it.each(cases)("%s", (_name, spec, owned, expected) => {
    expect(describeActions(planDeployment(deployment(spec), owned))).toEqual(expected);
  });

  it("names the replica set after the template, and owns it", () => {
    const [first, again, other] = [
      deployment(),
      deployment(),
      deployment({ template: { spec: { containers: [] } } }),
    ].map((given) => {
      const [action] = planDeployment(given, []);
      return action?.kind === "create" ? action.replicaSet : undefined;
    });
    expect(first?.metadata.name).toBe(again?.metadata.name);
    expect(first?.metadata.name).not.toBe(other?.metadata.name);
    expect(first?.metadata.ownerReferences).toMatchObject([{ uid: "u", controller: true, kind: "Deployment" }]);
    expect(first?.spec.selector.matchLabels).toHaveProperty(hashLabel);
  });
});
