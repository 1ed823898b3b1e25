import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { claimProtection, localStorageClass, planClaim, planVolume } from "./volume-plan.ts";

function claim(
  more: { spec?: PersistentVolumeClaim["spec"]; metadata?: object; phase?: "Bound" } = {},
): PersistentVolumeClaim {
  return {
    metadata: { name: "c", namespace: "ns", uid: "u", ...more.metadata },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...more.spec },
    ...(more.phase === undefined ? {} : { status: { phase: more.phase } }),
  };
}

function volume(more: Partial<NonNullable<PersistentVolume["spec"]>> = {}, metadata: object = {}): PersistentVolume {
  return {
    metadata: { name: "v", ...metadata },
    spec: { capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce", "ReadOnlyMany"], ...more },
    status: { phase: "Available" },
  };
}

const local = { storageClassName: "local" };
const otherClass: StorageClass = { metadata: { name: "other" }, provisioner: "example.com/other" };
const user: Pod = {
  metadata: { name: "p", namespace: "ns" },
  spec: { containers: [], volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
};

describe("planClaim", () => {
  const selected = { "volume.kubernetes.io/selected-node": "node-1" };
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [claimProtection] };
  const cases: [string, PersistentVolumeClaim, { volumes?: PersistentVolume[]; pods?: Pod[] }, object][] = [
    ["chooses the default class", claim(), {}, { kind: "choose-class", className: "local" }],
    ["does nothing for a bound claim", claim({ phase: "Bound" }), {}, { kind: "nothing" }],
    [
      "provisions a directory",
      claim({ spec: local }),
      {},
      {
        kind: "provision",
        volume: { metadata: { name: "pvc-u" }, spec: { hostPath: { path: "/data/pvc-u" }, claimRef: { uid: "u" } } },
      },
    ],
    ["takes a volume that fits", claim({ spec: { storageClassName: "" } }), { volumes: [volume()] }, { kind: "bind" }],
    [
      "takes the volume that is reserved for it",
      claim({ spec: local }),
      { volumes: [volume({ claimRef: { name: "c", namespace: "ns", uid: "u" } })] },
      { kind: "bind" },
    ],
    [
      "does not take a volume that was reserved for an older claim of this name",
      claim({ spec: { storageClassName: "" } }),
      { volumes: [volume({ claimRef: { name: "c", namespace: "ns", uid: "older" } })] },
      { kind: "refuse", reason: "FailedBinding" },
    ],
    [
      "does not take a volume that is too small",
      claim({ spec: { storageClassName: "" } }),
      { volumes: [volume({ capacity: { storage: "1Mi" } })] },
      { kind: "refuse" },
    ],
    [
      "does not take a volume of another mode",
      claim({ spec: { storageClassName: "" } }),
      { volumes: [volume({ volumeMode: "Block" })] },
      { kind: "refuse" },
    ],
    [
      "does not take a volume without the access mode",
      claim({ spec: { storageClassName: "", accessModes: ["ReadWriteMany"] } }),
      { volumes: [volume()] },
      { kind: "refuse" },
    ],
    [
      "refuses a class that is not there",
      claim({ spec: { storageClassName: "none" } }),
      {},
      { reason: "ProvisioningFailed", message: 'storageclass.storage.k8s.io "none" not found' },
    ],
    [
      "leaves other provisioners their claims",
      claim({ spec: { storageClassName: "other" } }),
      {},
      { reason: "ExternalProvisioning" },
    ],
    [
      "provisions a file for a device",
      claim({ spec: { ...local, volumeMode: "Block" } }),
      {},
      { kind: "provision", volume: { spec: { volumeMode: "Block", local: { path: "/data/pvc-u/disk.img" } } } },
    ],
    [
      "takes the volume that it names",
      claim({ spec: { storageClassName: "", volumeName: "second" } }),
      { volumes: [volume(), volume({}, { name: "second" })] },
      { kind: "bind", volume: { metadata: { name: "second" } } },
    ],
    [
      "takes the smallest volume whose labels it wants",
      claim({ spec: { storageClassName: "", selector: { matchLabels: { disk: "ssd" } } } }),
      {
        volumes: [
          volume({}, { name: "plain" }),
          volume({ capacity: { storage: "9Gi" } }, { name: "large", labels: { disk: "ssd" } }),
          volume({ capacity: { storage: "3Gi" } }, { name: "small", labels: { disk: "ssd" } }),
        ],
      },
      { kind: "bind", volume: { metadata: { name: "small" } } },
    ],
    [
      "waits for its first consumer",
      claim({ spec: { storageClassName: "late" } }),
      {},
      { kind: "refuse", reason: "WaitForFirstConsumer" },
    ],
    [
      "provisions once the consumer has a node",
      claim({ spec: { storageClassName: "late" }, metadata: { annotations: selected } }),
      {},
      { kind: "provision" },
    ],
    ["keeps a deleted claim while a pod uses it", claim({ metadata: deleted }), { pods: [user] }, { kind: "nothing" }],
    [
      "lets a deleted claim go when its pod has ended",
      claim({ metadata: deleted }),
      { pods: [{ ...user, status: { phase: "Succeeded" } }] },
      { kind: "let-go" },
    ],
  ];
  it.each(cases)("%s", (_name, given, world, expected) => {
    const late: StorageClass = {
      ...localStorageClass,
      metadata: { name: "late" },
      volumeBindingMode: "WaitForFirstConsumer",
    };
    const classes = [localStorageClass, otherClass, late];
    expect(planClaim(given, { volumes: [], nodes: [], pods: [], ...world, classes, directory: "/data" })).toMatchObject(
      expected,
    );
  });
});

describe("planVolume", () => {
  const ours = { annotations: { "pv.kubernetes.io/provisioned-by": "polyvirt.io/local-directory" } };
  const reserved = { claimRef: { name: "c", namespace: "ns", uid: "u" } };
  const reclaimed = { ...reserved, persistentVolumeReclaimPolicy: "Delete" as const };
  const cases: [string, PersistentVolume, PersistentVolumeClaim | undefined, object][] = [
    ["is available without a claim", { ...volume(), status: {} }, undefined, { kind: "mark", phase: "Available" }],
    ["is bound to its claim", volume(reserved), claim({ spec: { volumeName: "v" } }), { kind: "mark", phase: "Bound" }],
    ["waits for its claim to agree", volume(reserved), claim(), { kind: "nothing" }],
    ["is released when its claim is gone", volume(reserved), undefined, { kind: "mark", phase: "Released" }],
    [
      "is released when another claim has the name",
      volume(reserved),
      claim({ metadata: { uid: "new" } }),
      { kind: "mark", phase: "Released" },
    ],
    ["is not deleted by us when it is not ours", volume(reclaimed), undefined, { kind: "mark", phase: "Released" }],
    [
      "is deleted with its directory when it is ours",
      volume({ ...reclaimed, hostPath: { path: "/data/v" } }, ours),
      undefined,
      { kind: "delete", directory: "/data/v" },
    ],
    [
      "is deleted without a directory that is not ours",
      volume({ ...reclaimed, hostPath: { path: "/etc" } }, ours),
      undefined,
      { kind: "delete" },
    ],
  ];
  it.each(cases)("%s", (_name, given, owner, expected) => {
    expect(planVolume(given, owner, "/data")).toEqual(expected);
  });
});
