import type { VirtualMachine } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { defineHypervisor } from "../define-hypervisor.ts";
import { clusterConfig, instance, testUuid } from "../testing/fixtures.ts";

const context = { config: clusterConfig(), randomUuid: () => testUuid };

function machine(spec: Partial<VirtualMachine["spec"]> = {}, architecture?: string): VirtualMachine {
  const template = { spec: instance({}, architecture === undefined ? {} : { architecture }).spec };
  return { metadata: { name: "web" }, spec: { runStrategy: "Always", template, ...spec } };
}

const complete = (vm: VirtualMachine, hypervisor = registry.get("kvm")): VirtualMachine =>
  hypervisor.defaults.applyToMachine(vm, context);

describe("defaults of a VirtualMachine", () => {
  it("fix in the template what makes all instances the same computer", () => {
    expect(complete(machine()).spec.template).toEqual({
      metadata: { annotations: { "kubevirt.io/pci-topology-version": "v3" } },
      spec: {
        architecture: "amd64",
        domain: {
          devices: {},
          memory: { guest: "128Mi" },
          machine: { type: "q35" },
          firmware: { uuid: testUuid, serial: testUuid },
        },
      },
    });
  });

  it("keep what is set, and the object that was given", () => {
    const vm = machine();
    if (vm.spec.template.spec !== undefined) {
      vm.spec.template.spec.domain.firmware = { uuid: "own", serial: "S-1" };
      vm.spec.template.spec.domain.machine = { type: "pc-q35-7.2" };
    }
    const before = structuredClone(vm);
    expect(complete(vm).spec.template.spec?.domain).toMatchObject({
      firmware: { uuid: "own", serial: "S-1" },
      machine: { type: "pc-q35-7.2" },
    });
    expect(vm).toEqual(before);
    expect(complete(complete(vm))).toEqual(complete(vm));
  });

  it("give no serial number to machines that cannot show one", () => {
    expect(complete(machine({}, "s390x")).spec.template.spec?.domain.firmware).toEqual({ uuid: testUuid });
  });

  it.each(["kvm", "mshv"])("are valid on %s", (name) => {
    const hypervisor = registry.get(name);
    for (const architecture of hypervisor.node.architectures) {
      const { spec } = complete(machine({}, architecture), hypervisor);
      const vmi = hypervisor.defaults.applyToInstance(
        { metadata: {}, spec: spec.template.spec ?? instance().spec },
        context,
      );
      const template = { ...spec.template, spec: vmi.spec };
      expect(hypervisor.validator.validateVirtualMachineSpec("spec", { ...spec, template }, context.config)).toEqual(
        [],
      );
    }
  });

  it("name the kind of matchers, unless a volume does", () => {
    const { instancetype, preference } = complete(
      machine({ instancetype: { name: "small" }, preference: { inferFromVolume: "root" } }),
    ).spec;
    expect(instancetype?.kind).toBe("VirtualMachineClusterInstancetype");
    expect(preference?.kind).toBeUndefined();
  });

  it("leave a VM without a template to validation", () => {
    const vm: VirtualMachine = { metadata: {}, spec: { runStrategy: "Always", template: {} } };
    expect(complete(vm)).toEqual(vm);
  });

  it("can be replaced and extended by a hypervisor", () => {
    const { node, tuner } = registry.get("kvm");
    const own = defineHypervisor({
      name: "own",
      node,
      processes: tuner.processes,
      defaults: {
        replace: [{ name: "machine-type", set: ({ spec }) => void (spec.domain.machine = { type: "pc-q35-own" }) }],
        machine: [{ name: "own-strategy", set: ({ spec }) => void (spec.updateVolumesStrategy ??= "Replacement") }],
      },
    });
    const vm = complete(machine(), own);
    expect(vm.spec.template.spec?.domain.machine?.type).toBe("pc-q35-own");
    expect(vm.spec.updateVolumesStrategy).toBe("Replacement");
  });
});
