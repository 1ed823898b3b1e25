import type { VirtualMachineInstance } from "@polyvirt/api";
import type { PersistentVolumeClaim, StorageClass } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { NOW, VMI_UID, vmiWith } from "../testing/objects.ts";
import { pickStateClaim, renderStateClaim, stateClaimReadiness, stateKinds } from "./state-claim.ts";

type Domain = Partial<VirtualMachineInstance["spec"]["domain"]>;

function vmi(domain: Domain, metadata: Partial<VirtualMachineInstance["metadata"]> = {}): VirtualMachineInstance {
  const base = vmiWith({}, metadata);
  return { ...base, spec: { ...base.spec, domain: { ...base.spec.domain, ...domain } } };
}

const tpm: Domain = { devices: { tpm: { persistent: true } } };
const efi: Domain = { firmware: { bootloader: { efi: { persistent: true } } } };
const machine = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachine",
  name: "hello",
  uid: "machine-uid",
  controller: true,
};

describe("stateKinds", () => {
  it.each([
    ["a TPM", tpm, ["swtpm"]],
    ["UEFI variables", efi, ["nvram"]],
    ["both", { ...tpm, ...efi }, ["swtpm", "nvram"]],
    ["a TPM that is off", { devices: { tpm: { persistent: true, enabled: false } } }, []],
    ["nothing", { devices: { tpm: {} }, firmware: { bootloader: { efi: {} } } }, []],
  ])("of %s", (_, domain, kinds) => {
    expect(stateKinds(vmi(domain))).toEqual(kinds);
  });
});

describe("renderStateClaim", () => {
  it("is small, for one node, and goes with an instance that stands alone", () => {
    expect(renderStateClaim(vmi(tpm), "fast")).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^persistent-state-for-hello-[a-z0-9]{5}$/) as string,
        namespace: "default",
        labels: { "persistent-state-for": "hello" },
        ownerReferences: [{ kind: "VirtualMachineInstance", uid: VMI_UID, controller: true }],
      },
      spec: {
        accessModes: ["ReadWriteOnce"],
        volumeMode: "Filesystem",
        storageClassName: "fast",
        resources: { requests: { storage: "10Mi" } },
      },
    });
    expect(renderStateClaim(vmi(tpm), undefined).spec).not.toHaveProperty("storageClassName");
  });

  it("belongs to the virtual machine, under one name for all its instances", () => {
    const claims = ["one", "two"].map((uid) =>
      renderStateClaim(vmi(tpm, { uid, ownerReferences: [machine] }), undefined),
    );
    expect(claims[0]?.metadata.ownerReferences).toEqual([machine]);
    expect(claims[0]?.metadata.name).toBe(claims[1]?.metadata.name);
  });

  it("has room for the variables of arm64", () => {
    const arm = vmi(efi);
    const claim = renderStateClaim({ ...arm, spec: { ...arm.spec, architecture: "arm64" } }, undefined);
    expect(claim.spec?.resources?.requests).toEqual({ storage: "80Mi" });
  });
});

function claim(name: string, metadata: PersistentVolumeClaim["metadata"] = {}): PersistentVolumeClaim {
  return { metadata: { name, creationTimestamp: "2026-01-01T11:00:00Z", ...metadata } };
}

const owned = (name: string, uid: string) =>
  claim(name, { ownerReferences: [{ ...machine, kind: "VirtualMachineInstance", uid }] });

describe("pickStateClaim", () => {
  const instance = vmi(tpm);
  it.each([
    ["its own before one of nobody", [claim("free"), owned("own", VMI_UID)], "own"],
    ["one that nobody owns", [owned("other", "earlier"), claim("free")], "free"],
    ["the older of two", [claim("new"), claim("old", { creationTimestamp: "2025-01-01T00:00:00Z" })], "old"],
    ["none of an earlier instance", [owned("other", "earlier")], undefined],
    ["none that is on its way out", [claim("free", { deletionTimestamp: "2026-01-01T11:00:01Z" })], undefined],
  ])("takes %s", (_, claims, name) => {
    expect(pickStateClaim(instance, claims)?.metadata.name).toBe(name);
  });

  it("takes the machine's for each of its instances", () => {
    const claims = [claim("kept", { ownerReferences: [machine] })];
    expect(pickStateClaim(vmi(tpm, { uid: "next", ownerReferences: [machine] }), claims)?.metadata.name).toBe("kept");
  });
});

describe("stateClaimReadiness", () => {
  const named = { storageClassName: "fast" };
  const pending = (spec: PersistentVolumeClaim["spec"], created = "2026-01-01T11:00:00Z"): PersistentVolumeClaim => ({
    ...claim("state", { creationTimestamp: created }),
    ...(spec === undefined ? {} : { spec }),
    status: { phase: "Pending" },
  });
  const storageClass = (volumeBindingMode: "Immediate" | "WaitForFirstConsumer"): StorageClass => ({
    metadata: { name: "fast" },
    provisioner: "p",
    volumeBindingMode,
  });

  it("is ready with a volume, or when it gets one with its pod", () => {
    const bound = { ...pending(named), status: { phase: "Bound" } } as const;
    expect(stateClaimReadiness(bound, undefined, NOW)).toEqual({ kind: "ready" });
    expect(stateClaimReadiness(pending(named), storageClass("WaitForFirstConsumer"), NOW)).toEqual({ kind: "ready" });
  });

  it("waits for a new claim without a word", () => {
    const fresh = pending(named, "2026-01-01T11:59:58Z");
    expect(stateClaimReadiness(fresh, storageClass("Immediate"), NOW)).toEqual({ kind: "waiting" });
  });

  it.each([
    ["no class", undefined, undefined, /has no storage class; make one the default.*vmStateStorageClass/],
    ["a class that is not there", named, "missing", /storage class "fast" does not exist/],
    ["a provisioner that does nothing", named, storageClass("Immediate"), /kubectl describe pvc state/],
  ] as const)("says why it waits: %s", (_, spec, found, words) => {
    const readiness = stateClaimReadiness(pending(spec), found, NOW);
    expect(readiness).toEqual({ kind: "waiting", message: expect.stringMatching(words) as string });
  });
});
