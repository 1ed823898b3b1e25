import type { VirtualMachineInstance } from "@polyvirt/api";
import type { AdmissionRequest } from "@polyvirt/api/k8s";
import { registry, resolveClusterConfig } from "@polyvirt/hypervisor";
import { describe, expect, it } from "vitest";
import type { AdmissionContext } from "./admission.ts";
import { validateInstanceCreate, validateInstanceUpdate } from "./validate-instance.ts";

const context: AdmissionContext = {
  hypervisors: registry,
  config: resolveClusterConfig(undefined, { hostArchitecture: "amd64" }),
  presets: () => [],
  namespace: "kubevirt",
  now: () => 0,
  randomUuid: () => "5d307ca9-b3ef-428c-8861-06e72d69f223",
};

const good: VirtualMachineInstance = {
  metadata: { name: "hello", namespace: "default" },
  spec: { architecture: "amd64", domain: { devices: {}, memory: { guest: "128Mi" } } },
};

function review(request: Partial<AdmissionRequest<VirtualMachineInstance>>): AdmissionRequest<VirtualMachineInstance> {
  return {
    uid: "r1",
    name: "hello",
    kind: { group: "kubevirt.io", version: "v1", kind: "VirtualMachineInstance" },
    resource: { group: "kubevirt.io", version: "v1", resource: "virtualmachineinstances" },
    operation: "CREATE",
    userInfo: { username: "ann" },
    ...request,
  };
}

describe("validateInstanceCreate", () => {
  it("allows a valid VMI", () => {
    expect(validateInstanceCreate(review({ object: good }), context)).toEqual({ uid: "r1", allowed: true });
  });

  it("refuses with 422 and every cause", () => {
    const object = {
      ...good,
      metadata: { ...good.metadata, labels: { "kubevirt.io/nodeName": "n1" } },
      spec: { ...good.spec, domain: { devices: {}, machine: { type: "pc" }, cpu: { isolateEmulatorThread: true } } },
    };
    const response = validateInstanceCreate(review({ object }), context);
    expect(response.allowed).toBe(false);
    expect(response.status).toMatchObject({ code: 422, reason: "Invalid" });
    const causes = response.status?.details?.causes ?? [];
    expect(causes.map(({ field }) => field)).toEqual([
      "spec.domain.memory.guest",
      "spec.domain.cpu.isolateEmulatorThread",
      "spec.domain.machine.type",
      "metadata.labels",
    ]);
    expect(response.status?.message).toBe(causes.map(({ message }) => message).join(", "));
  });

  it("lets our own roles set reserved labels", () => {
    const object = { ...good, metadata: { ...good.metadata, labels: { "kubevirt.io/nodeName": "n1" } } };
    const userInfo = { username: "system:serviceaccount:kubevirt:virt-controller" };
    expect(validateInstanceCreate(review({ object, userInfo }), context).allowed).toBe(true);
  });

  it("refuses hook sidecars without their gate, and what is not served", () => {
    const annotations = { "hooks.kubevirt.io/hookSidecars": "[]", "kubevirt.io/ignitiondata": "{}" };
    const object = { ...good, metadata: { ...good.metadata, annotations } };
    const response = validateInstanceCreate(review({ object }), context);
    expect(response.status?.details?.causes?.map(({ message }) => message)).toEqual([
      "sidecar feature gate is not enabled in kubevirt-config, invalid entry metadata.annotations.hooks.kubevirt.io/hookSidecars",
      "metadata.annotations.kubevirt.io/ignitiondata is not served by this version",
    ]);
  });
});

describe("probes", () => {
  it.each([{ exec: { command: ["true"] } }, { guestAgentPing: {} }])("may look inside the guest: %j", (probe) => {
    const object = { ...good, spec: { ...good.spec, readinessProbe: probe } };
    expect(validateInstanceCreate(review({ object }), context).allowed).toBe(true);
  });
});

describe("validateInstanceUpdate", () => {
  const running: VirtualMachineInstance = { ...good, status: { phase: "Running", nodeName: "n1" } };
  const update = (object: VirtualMachineInstance, userInfo: AdmissionRequest["userInfo"]) =>
    validateInstanceUpdate(review({ operation: "UPDATE", object, oldObject: running, userInfo }), context);
  const changedSpec = { ...running, spec: { ...running.spec, hostname: "other" } };

  it("keeps users from changing the spec or reserved labels", () => {
    expect(update(changedSpec, { username: "ann" }).status?.message).toBe("update of VMI object is restricted");
    const labelled = { ...running, metadata: { ...running.metadata, labels: { "kubevirt.io/nodeName": "n2" } } };
    expect(update(labelled, { username: "ann" }).status?.message).toBe(
      "modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited",
    );
    const ordinary = { ...running, metadata: { ...running.metadata, labels: { app: "web" } } };
    expect(update(ordinary, { username: "ann" }).allowed).toBe(true);
  });

  it("asks the hypervisor layer about changes that our own roles make to a running guest", () => {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    const object = { ...running, spec: { ...running.spec, volumes } };
    const response = update(object, { username: "system:serviceaccount:kubevirt:virt-api" });
    expect(response.status?.message).toContain(
      "volume data can only be added to a running VMI when it is hotpluggable",
    );
  });
});
