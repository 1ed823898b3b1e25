import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { createClaimRules, type StorageView } from "./claims.ts";
import { createSnapshot, type NodeState } from "./snapshot.ts";

const pod: Pod = {
  metadata: {},
  spec: { containers: [], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
};
const classes: Record<string, StorageClass> = {
  wait: { metadata: { name: "wait" }, provisioner: "example.com/x", volumeBindingMode: "WaitForFirstConsumer" },
  static: {
    metadata: { name: "static" },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  },
};

function view(claim: PersistentVolumeClaim | undefined, volumes: PersistentVolume[] = []): StorageView {
  return {
    claim: () => claim,
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    storageClass: (name) => classes[name],
    volumes: () => volumes,
  };
}

function state(name: string): NodeState {
  const node: Node = { metadata: { name, labels: { "kubernetes.io/hostname": name } } };
  // A snapshot of one node has exactly that one.
  return createSnapshot([node], []).nodes[0]!;
}

const onNode = (name: string, more: object = {}): PersistentVolume => ({
  metadata: { name: `volume-${name}` },
  spec: {
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [name] }] }],
      },
    },
    ...more,
  },
});

describe("a pod's claims", () => {
  it.each<[string, PersistentVolumeClaim | undefined, string | undefined]>([
    ["no claim", undefined, 'persistentvolumeclaim "c" not found'],
    ["an unbound claim", { metadata: {} }, "pod has unbound immediate PersistentVolumeClaims"],
    [
      "a claim that goes away",
      { metadata: { deletionTimestamp: "x" }, status: { phase: "Bound" } },
      'persistentvolumeclaim "c" is being deleted',
    ],
    [
      "a claim that lost its volume",
      { metadata: {}, status: { phase: "Lost" } },
      'persistentvolumeclaim "c" bound to non-existent persistentvolume',
    ],
    ["a bound claim", { metadata: {}, status: { phase: "Bound" } }, undefined],
    ["a claim that waits for its consumer", { metadata: {}, spec: { storageClassName: "wait" } }, undefined],
  ])("%s", (_name, claim, problem) => {
    expect(createClaimRules(pod, view(claim)).problem).toBe(problem);
  });

  it("are nobody's problem where there are none", () => {
    expect(createClaimRules({ metadata: {}, spec: { containers: [] } }, view(undefined)).problem).toBeUndefined();
  });

  it("keep the pod where its volume is", () => {
    const claim: PersistentVolumeClaim = { metadata: {}, spec: { volumeName: "volume-a" }, status: { phase: "Bound" } };
    const rules = createClaimRules(pod, view(claim, [onNode("a")]));
    expect(rules.reasonsAgainst(state("a"))).toEqual([]);
    expect(rules.reasonsAgainst(state("b"))).toEqual(["node(s) had volume node affinity conflict"]);
  });

  it("that wait let the pod go where a volume is or can be made", () => {
    const waiting: PersistentVolumeClaim = { metadata: {}, spec: { storageClassName: "wait" } };
    expect(createClaimRules(pod, view(waiting)).waiting).toEqual([waiting]);
    expect(createClaimRules(pod, view(waiting)).reasonsAgainst(state("a"))).toEqual([]);
    const fixed: PersistentVolumeClaim = { metadata: {}, spec: { storageClassName: "static" } };
    const rules = createClaimRules(pod, view(fixed, [onNode("a", { storageClassName: "static" })]));
    expect(rules.reasonsAgainst(state("a"))).toEqual([]);
    expect(rules.reasonsAgainst(state("b"))).toEqual(["node(s) didn't find available persistent volumes to bind"]);
  });

  it("that were promised to a node stay with it", () => {
    const annotations = { "volume.kubernetes.io/selected-node": "a" };
    const rules = createClaimRules(pod, view({ metadata: { annotations }, spec: { storageClassName: "wait" } }));
    expect(rules.reasonsAgainst(state("a"))).toEqual([]);
    expect(rules.reasonsAgainst(state("b"))).not.toEqual([]);
  });
});
