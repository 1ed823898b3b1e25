import { applyJsonPatch, type JsonPatchOperation } from "@polyvirt/core";
import type { VirtualMachineInstance } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionResponse } from "@polyvirt/api/k8s";
import { registry, resolveClusterConfig } from "@polyvirt/hypervisor";
import { describe, expect, it } from "vitest";
import type { AdmissionContext } from "./admission.ts";
import { mutateInstance } from "./mutate-instance.ts";

const uuid = "5d307ca9-b3ef-428c-8861-06e72d69f223";

const context: AdmissionContext = {
  hypervisors: registry,
  config: resolveClusterConfig(undefined, { hostArchitecture: "amd64" }),
  presets: () => [],
  namespace: "kubevirt",
  now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  randomUuid: () => uuid,
};

const vmi: VirtualMachineInstance = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "hello", namespace: "default" },
  spec: { domain: { devices: {}, memory: { guest: "128Mi" } } },
};

function review(request: Partial<AdmissionRequest<VirtualMachineInstance>>): AdmissionRequest<VirtualMachineInstance> {
  return {
    uid: "r1",
    kind: { group: "kubevirt.io", version: "v1", kind: "VirtualMachineInstance" },
    resource: { group: "kubevirt.io", version: "v1", resource: "virtualmachineinstances" },
    operation: "CREATE",
    userInfo: { username: "ann" },
    object: vmi,
    ...request,
  };
}

function patched(response: AdmissionResponse, object: VirtualMachineInstance): VirtualMachineInstance {
  const text = Buffer.from(response.patch ?? "", "base64").toString();
  const operations: JsonPatchOperation[] = text === "" ? [] : JSON.parse(text);
  return applyJsonPatch(object, operations);
}

describe("mutateInstance", () => {
  it("completes a new VMI: defaults, finalizer, phase with its time", () => {
    const response = mutateInstance(review({}), context);
    expect(response).toMatchObject({ uid: "r1", allowed: true, patchType: "JSONPatch" });
    const result = patched(response, vmi);
    expect(result.metadata.finalizers).toEqual(["kubevirt.io/foregroundDeleteVirtualMachine"]);
    expect(result.status).toMatchObject({
      phase: "Pending",
      phaseTransitionTimestamps: [{ phase: "Pending", phaseTransitionTimestamp: "2026-01-02T03:04:05Z" }],
      runtimeUser: 107,
    });
    expect(result.spec).toMatchObject({
      architecture: "amd64",
      domain: { machine: { type: "q35" }, firmware: { uuid } },
      networks: [{ name: "default", pod: {} }],
    });
  });

  it("does not take a status from the user who creates a VMI", () => {
    const object = { ...vmi, status: { nodeName: "elsewhere", phase: "Running" as const } };
    const result = patched(mutateInstance(review({ object }), context), object);
    expect(result.status?.phase).toBe("Pending");
    expect(result.status?.nodeName).toBeUndefined();
  });

  it("reverts status changes of users and leaves those of our own roles", () => {
    const before = { ...vmi, status: { phase: "Running" as const, nodeName: "n1" } };
    const after = { ...vmi, status: { phase: "Running" as const, nodeName: "n2" } };
    const update = { operation: "UPDATE" as const, object: after, oldObject: before };
    expect(patched(mutateInstance(review(update), context), after).status?.nodeName).toBe("n1");
    const own = { ...update, userInfo: { username: "system:serviceaccount:kubevirt:virt-controller" } };
    expect(mutateInstance(review(own), context)).toEqual({ uid: "r1", allowed: true });
    const impostor = { ...update, userInfo: { username: "system:serviceaccount:default:virt-controller" } };
    expect(patched(mutateInstance(review(impostor), context), after).status?.nodeName).toBe("n1");
  });

  it("refuses a hypervisor that the cluster does not offer", () => {
    const object = { ...vmi, spec: { ...vmi.spec, hypervisor: "mshv" } };
    const response = mutateInstance(review({ object }), context);
    expect(response.allowed).toBe(false);
    expect(response.status?.details?.causes).toEqual([
      {
        reason: "FieldValueNotSupported",
        field: "spec.hypervisor",
        message: "hypervisor mshv is not offered by this cluster (allowed values: [kvm])",
      },
    ]);
  });

  it("uses the hypervisor that the cluster is configured for", () => {
    const config = resolveClusterConfig(
      {
        hypervisors: [{ name: "hyperv-direct" }],
        developerConfiguration: { featureGates: ["ConfigurableHypervisor"] },
      },
      { hostArchitecture: "amd64" },
    );
    const result = patched(mutateInstance(review({}), { ...context, config }), vmi);
    expect(result.spec.domain.cpu?.model).toBe("qemu64-v1");
  });

  describe("with presets", () => {
    const labelled = { ...vmi, metadata: { ...vmi.metadata, labels: { size: "small" } } };
    const preset = (name: string, cores: number) => ({
      metadata: { name, namespace: "default" },
      spec: { selector: { matchLabels: { size: "small" } }, domain: { devices: {}, cpu: { cores } } },
    });
    const mutate = (...presets: ReturnType<typeof preset>[]) => {
      const asked: string[] = [];
      const changed = { ...context, presets: (namespace: string) => (asked.push(namespace), presets) };
      const response = mutateInstance(review({ object: labelled, namespace: "default" }), changed);
      expect(asked).toEqual(["default"]);
      return response;
    };

    it("gets their settings before the defaults", () => {
      const response = mutate(preset("two", 2));
      expect(patched(response, labelled).spec.domain.cpu).toMatchObject({ cores: 2, model: "host-model" });
      expect(response.warnings).toBeUndefined();
    });

    it("refuses presets that contradict each other", () => {
      const response = mutate(preset("two", 2), preset("four", 4));
      expect(response.allowed).toBe(false);
      expect(response.status?.message).toContain("cannot be applied due to conflicts");
    });

    it("warns about settings of a preset that the VMI overrides", () => {
      const own = { ...labelled, spec: { domain: { ...labelled.spec.domain, cpu: { cores: 1 } } } };
      const changed = { ...context, presets: () => [preset("two", 2)] };
      const response = mutateInstance(review({ object: own, namespace: "default" }), changed);
      expect(response.warnings?.[0]).toContain("VirtualMachineInstancePreset 'two'");
      expect(patched(response, own).spec.domain.cpu?.cores).toBe(1);
    });
  });
});
