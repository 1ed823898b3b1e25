import type { KubeVirt, KubeVirtSpec, VirtualMachine, VirtualMachineInstancePreset } from "@polyvirt/api";
import type { AdmissionRequest, KubeObject } from "@polyvirt/api/k8s";
import { registry, resolveClusterConfig } from "@polyvirt/hypervisor";
import { describe, expect, it } from "vitest";
import type { AdmissionContext } from "./admission.ts";
import { refuseMachine, refuseUnserved } from "./unserved.ts";
import { validateKubeVirt } from "./validate-kubevirt.ts";
import { validatePreset } from "./validate-preset.ts";

const context: AdmissionContext = {
  hypervisors: registry,
  config: resolveClusterConfig(undefined, { hostArchitecture: "amd64" }),
  presets: () => [],
  namespace: "kubevirt",
  now: () => 0,
  randomUuid: () => "u",
};

function review<T extends KubeObject>(kind: string, object: T, oldObject?: T): AdmissionRequest<T> {
  return {
    uid: "r",
    kind: { group: "kubevirt.io", version: "v1", kind },
    resource: { group: "kubevirt.io", version: "v1", resource: `${kind.toLowerCase()}s` },
    operation: oldObject === undefined ? "CREATE" : "UPDATE",
    userInfo: { username: "ann" },
    object,
    ...(oldObject === undefined ? {} : { oldObject }),
  };
}

describe("a KubeVirt object", () => {
  const kubevirt = (spec: KubeVirtSpec): KubeVirt => ({ metadata: { name: "kubevirt" }, spec });
  const gates = (...featureGates: string[]) => ({ developerConfiguration: { featureGates } });
  const bad = kubevirt({
    imagePullPolicy: "Sometimes",
    configuration: { ...gates("ConfigurableHypervisor"), hypervisor: [{ name: "xen" }] },
  });

  it("may be what virt-operator carries out", () => {
    const object = kubevirt({ configuration: gates("PluginVirtualizationStacks") });
    expect(validateKubeVirt(review("KubeVirt", object), context).allowed).toBe(true);
  });

  it("is refused with every cause", () => {
    const { status } = validateKubeVirt(review("KubeVirt", bad), context);
    expect(status?.details?.causes?.map(({ field }) => field)).toEqual([
      "spec.configuration.hypervisor[0].name",
      "spec.imagePullPolicy",
    ]);
  });

  it("may be mended step by step, but not made worse", () => {
    const better = kubevirt({ ...bad.spec, imagePullPolicy: "Always" });
    expect(validateKubeVirt(review("KubeVirt", better, bad), context).allowed).toBe(true);
    expect(validateKubeVirt(review("KubeVirt", bad, better), context).status?.message).toBe(
      'spec.imagePullPolicy "Sometimes" is not a pull policy',
    );
  });

  it("that is going away is left alone", () => {
    const going = { ...bad, metadata: { ...bad.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(validateKubeVirt(review("KubeVirt", going), context).allowed).toBe(true);
  });
});

describe("a preset", () => {
  const preset = (spec: object) => ({ metadata: { name: "p" }, spec }) as VirtualMachineInstancePreset;

  it("needs something to set and a selector that can match", () => {
    const good = preset({ domain: { devices: {} }, selector: { matchLabels: { a: "b" } } });
    expect(validatePreset(review("VirtualMachineInstancePreset", good)).allowed).toBe(true);
    const wrong = preset({
      selector: {
        matchExpressions: [
          { key: "a", operator: "Near", values: ["b"] },
          { key: "a", operator: "In" },
          { key: "a", operator: "Exists", values: ["b"] },
        ],
      },
    });
    const { status } = validatePreset(review("VirtualMachineInstancePreset", wrong));
    expect(status?.details?.causes?.map(({ field }) => field)).toEqual([
      "spec.domain",
      "spec.selector.matchExpressions[0].operator",
      "spec.selector.matchExpressions[1].values",
      "spec.selector.matchExpressions[2].values",
    ]);
  });
});

describe("kinds that nothing acts upon yet", () => {
  it.each([
    ["VirtualMachineInstanceReplicaSet", "one by one"],
    ["VirtualMachineInstanceMigration", "create it again"],
    ["Plugin", "is not served by this version"],
  ])("%s is refused with what to do instead", (kind, words) => {
    expect(refuseUnserved(review(kind, { metadata: { name: "x" } })).status?.message).toContain(words);
  });

  it("a VirtualMachine hears of the faults of its template as well", () => {
    const machine: VirtualMachine = {
      metadata: { name: "vm" },
      spec: {
        runStrategy: "Always",
        template: {
          spec: { domain: { devices: { disks: [{ name: "a", disk: { bus: "ide" } }] }, memory: { guest: "1Gi" } } },
        },
      },
    };
    const { status } = refuseMachine(review("VirtualMachine", machine), context);
    expect(status?.message).toContain("create a VirtualMachineInstance with the spec of its template");
    expect(status?.message).toContain("IDE bus is not supported");
  });
});
