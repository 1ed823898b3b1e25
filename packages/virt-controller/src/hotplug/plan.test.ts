import type { VirtualMachineInstance, VolumeStatus } from "@polyvirt/api";
import type { PersistentVolumeClaim, Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { NOW, podWith, terminating, vmiWith } from "../testing/objects.ts";
import { StatusDraft } from "../vmi/draft.ts";
import { renderAttachmentPod } from "./attachment-pod.ts";
import { hasHotplug, planHotplug } from "./plan.ts";

const launcher = podWith({ phase: "Running", ready: true });

type ClaimPhase = NonNullable<NonNullable<PersistentVolumeClaim["status"]>["phase"]>;

function claim(
  name: string,
  phase: ClaimPhase = "Bound",
  volumeMode: "Filesystem" | "Block" = "Filesystem",
): PersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", uid: `uid-of-${name}` },
    spec: { accessModes: ["ReadWriteOnce"], volumeMode, resources: { requests: { storage: "1Gi" } } },
    status: { phase, capacity: { storage: "1Gi" } },
  };
}

const volume = (name: string) => ({ name, persistentVolumeClaim: { claimName: name, hotpluggable: true } });

function guest(names: readonly string[], volumeStatus: readonly VolumeStatus[] = [], metadata = {}) {
  const vmi = vmiWith({ phase: "Running", volumeStatus: [...volumeStatus] }, metadata);
  return { ...vmi, spec: { ...vmi.spec, volumes: names.map(volume) } };
}

/** An attachment pod as the cluster has it. */
function attachment(
  names: readonly string[],
  { ready = true, ...metadata }: Pod["metadata"] & { ready?: boolean } = {},
) {
  const held = names.map((name) => ({ volume: volume(name), claim: claim(name) }));
  const pod = renderAttachmentPod(guest(names), launcher, held);
  return {
    ...pod,
    metadata: { ...pod.metadata, uid: `uid-${names.join("-")}`, ...metadata },
    status: podWith({ phase: "Running", ready }).status ?? {},
  };
}

function plan(
  vmi: VirtualMachineInstance,
  claims: readonly PersistentVolumeClaim[],
  attachments: readonly Pod[] = [],
  pod: Pod = launcher,
) {
  const draft = new StatusDraft(vmi, NOW);
  const byName = new Map(claims.map((entry) => [entry.metadata.name ?? "", entry]));
  const { attach, deleteAttachments, awaitsClaim } = planHotplug(vmi, pod, { attachments, claims: byName }, draft);
  return {
    attach: attach?.map(({ volume: { name } }) => name),
    deleted: deleteAttachments.map(({ metadata }) => metadata.uid),
    awaitsClaim,
    volumes: (draft.status.volumeStatus ?? []).map(({ name, phase, reason }) =>
      `${name}: ${phase} ${reason ?? ""}`.trim(),
    ),
    status: draft.status.volumeStatus,
    events: draft.events.map(({ reason, message }) => `${reason}: ${message}`),
  };
}

const ready = (name: string, target = "sda"): VolumeStatus => {
  return { name, target, phase: "Ready", reason: "VolumeReady", hotplugVolume: { attachPodName: "hp" } };
};

describe("planHotplug", () => {
  it("says why it waits for a claim, and looks again", () => {
    const missing = plan(guest(["a"]), []);
    expect(missing).toMatchObject({ attach: undefined, awaitsClaim: true, volumes: ["a: Pending FailedPvcNotFound"] });
    expect(missing.status?.[0]).toMatchObject({ message: "PVC a not found", hotplugVolume: {} });
    expect(plan(guest(["a", "b"]), [claim("a", "Pending"), claim("b")])).toMatchObject({
      // Someone waits for b, so it does not wait for a.
      attach: ["b"],
      awaitsClaim: true,
      volumes: ["a: Pending PVCNotReady", "b: Bound PVCNotReady"],
    });
  });

  it("tries a claim that waits for its first user when nobody else is kept waiting", () => {
    const held = plan(guest(["a", "b"], [ready("b")]), [claim("a", "Pending"), claim("b")], [attachment(["b"])]);
    expect(held).toMatchObject({ attach: ["a", "b"], deleted: [] });
  });

  it("names the pod as soon as it exists, and its UID once it runs", () => {
    const starting = plan(guest(["a"]), [claim("a")], [attachment(["a"], { ready: false })]);
    expect(starting).toMatchObject({ attach: undefined, deleted: [], volumes: ["a: AttachedToNode SuccessfulCreate"] });
    expect(starting.status?.[0]?.hotplugVolume).toEqual({ attachPodName: attachment(["a"]).metadata.name });
    expect(starting.events).toEqual([
      `SuccessfulCreate: Created hotplug attachment pod ${attachment(["a"]).metadata.name}, for volume a`,
    ]);
    const running = plan(guest(["a"], starting.status), [claim("a")], [attachment(["a"])]);
    expect(running.status?.[0]?.hotplugVolume).toMatchObject({ attachPodUID: "uid-a" });
    expect(running.status?.[0]?.persistentVolumeClaimInfo).toMatchObject({ claimName: "a", volumeMode: "Filesystem" });
    expect(running.events).toEqual([]);
  });

  it("keeps the pod before until the one with one volume more runs", () => {
    const vmi = guest(["a", "b"], [ready("a")]);
    const claims = [claim("a"), claim("b")];
    expect(plan(vmi, claims, [attachment(["a"])])).toMatchObject({ attach: ["a", "b"], deleted: [] });
    const both = attachment(["a", "b"], { ready: false });
    expect(plan(vmi, claims, [attachment(["a"]), both])).toMatchObject({ attach: undefined, deleted: [] });
    const done = plan(vmi, claims, [attachment(["a"]), attachment(["a", "b"])]);
    expect(done).toMatchObject({
      deleted: ["uid-a"],
      volumes: ["a: Ready VolumeReady", "b: AttachedToNode SuccessfulCreate"],
    });
  });

  it("holds a volume until the launcher has let go of it, then forgets it", () => {
    const claims = [claim("a")];
    const both = attachment(["a", "b"]);
    const leaving = plan(guest(["a"], [ready("a"), ready("b", "sdb")]), claims, [both, attachment(["a"])]);
    expect(leaving).toMatchObject({ deleted: [], volumes: ["a: Ready VolumeReady", "b: Detaching VolumeDetaching"] });
    const unmounted = leaving.status?.map((entry) =>
      entry.name === "b" ? { ...entry, target: "", phase: "UnMountedFromPod" } : entry,
    );
    const out = plan(guest(["a"], unmounted), claims, [both, attachment(["a"])]);
    expect(out.deleted).toEqual(["uid-a-b"]);
    expect(out.status).toHaveLength(2);
    const gone = plan(guest(["a"], unmounted), claims, [attachment(["a"])]);
    expect(gone.status?.map(({ name }) => name)).toEqual(["a"]);
  });

  it("lets everything go with the last volume, and with the guest", () => {
    const out = { ...ready("a", ""), phase: "UnMountedFromPod" };
    expect(plan(guest([], [out]), [], [attachment(["a"])])).toMatchObject({ attach: undefined, deleted: ["uid-a"] });
    expect(plan(guest([], [out]), []).status).toEqual([]);
    const deleted = guest(["a"], [ready("a")], terminating);
    expect(plan(deleted, [claim("a")], [attachment(["a"])])).toMatchObject({ attach: undefined, deleted: [] });
    const ended = podWith({ phase: "Succeeded" });
    expect(plan(deleted, [claim("a")], [attachment(["a"])], ended)).toMatchObject({ deleted: ["uid-a"] });
  });

  it("makes a new pod for one that ended or is being deleted", () => {
    const failed = { ...attachment(["a"]), status: { phase: "Failed" as const } };
    expect(plan(guest(["a"], [ready("a")]), [claim("a")], [failed])).toMatchObject({
      attach: ["a"],
      deleted: ["uid-a"],
    });
    expect(plan(guest(["a"]), [claim("a")], [attachment(["a"], terminating)])).toMatchObject({
      attach: ["a"],
      deleted: [],
    });
  });

  it("leaves the entries of permanent volumes alone", () => {
    const root: VolumeStatus = { name: "root", target: "vda" };
    expect(plan(guest(["a"], [root]), [claim("a")]).status?.[1]).toEqual(root);
  });
});

describe("hasHotplug", () => {
  it("is about volumes that come and go, also while they go", () => {
    expect(hasHotplug(guest(["a"]))).toBe(true);
    expect(hasHotplug(guest([], [ready("a")]))).toBe(true);
    expect(hasHotplug(guest([], [{ name: "root", target: "vda" }]))).toBe(false);
  });
});

describe("renderAttachmentPod", () => {
  it("sits on the launcher's node, belongs to it, and gives devices as devices", () => {
    const held = [
      { volume: volume("files"), claim: claim("files") },
      { volume: volume("raw"), claim: claim("raw", "Bound", "Block") },
    ];
    const pod = renderAttachmentPod(guest(["files", "raw"]), launcher, held);
    expect(pod.metadata).toMatchObject({
      name: expect.stringMatching(/^hp-volume-[a-z0-9]{5}$/),
      labels: { "kubevirt.io": "hotplug-disk" },
      ownerReferences: [{ kind: "Pod", name: "virt-launcher-hello-abcde", uid: "pod-uid", controller: true }],
    });
    const [container] = pod.spec.containers;
    expect(container?.image).toBe("launcher:1");
    expect(container?.volumeMounts).toContainEqual({ name: "files", mountPath: "/volumes/files" });
    expect(container?.volumeDevices).toEqual([{ name: "raw", devicePath: "/dev/hotplug/raw" }]);
    expect(JSON.stringify(pod.spec.affinity)).toContain('"values":["node-1"]');
  });
});
