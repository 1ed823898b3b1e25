/**
 * What the two proposals behind this layer promise (the hypervisor abstraction, and emulation of other architectures), each
 * by the name of its section: examples as they stand there, tables row by row, messages word by word.
 */
import type { KubeVirtConfiguration, VirtualMachineInstance } from "@polyvirt/api";
import { validateDomain, writeDomain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { registry } from "./builtin.ts";
import { checkConfiguration } from "./check-configuration.ts";
import type { Configurator } from "./contract.ts";
import { defaultsLayers } from "./contract.ts";
import { planningContext } from "./converter/planning-context.ts";
import { defineHypervisor, type HypervisorDefinition } from "./define-hypervisor.ts";
import { clusterConfig, converterContext, instance, testUuid } from "./testing/fixtures.ts";

const randomUuid = (): string => testUuid;
const kvm = registry.get("kvm");
const mshv = registry.get("mshv");

/** A hypervisor that is KVM but for what is given. */
const own = (definition: Partial<HypervisorDefinition>) =>
  defineHypervisor({ name: "own", node: kvm.node, processes: kvm.tuner.processes, ...definition });

const configurationOf = (text: string): KubeVirtConfiguration =>
  (parse(text) as { spec: { configuration: KubeVirtConfiguration } }).spec.configuration; // The texts are below.

describe("Hypervisor Abstraction Layer", () => {
  describe("Selection", () => {
    const example = configurationOf(`
spec:
  configuration:
    hypervisor:
    - name: kvm
      hypervisorDevice: kvm
      virtType: kvm
    developerConfiguration:
      featureGates:
        - ConfigurableHypervisor
`);

    it("takes the hypervisor of the list, its device and its type", () => {
      const { name, node } = registry.select(clusterConfig(example).hypervisor);
      expect({ name, ...node }).toMatchObject({ name: "kvm", hypervisorDevice: "kvm", virtType: "kvm" });
    });

    it("Single-hypervisor Constraint: refuses more than one entry", () => {
      const configuration = { ...example, hypervisor: [{ name: "kvm" }, { name: "mshv" }] };
      const problems = checkConfiguration({ metadata: {}, spec: { configuration } }, registry);
      expect(problems.map(({ message }) => message).join()).toContain("has 2 entries; a cluster has one hypervisor");
    });

    it("Backwards compatibility: is KVM without a list and without the gate", () => {
      for (const configuration of [{}, { ...example, hypervisor: [] }, { hypervisor: [{ name: "mshv" }] }]) {
        expect(registry.select(clusterConfig(configuration).hypervisor).name).toBe("kvm");
      }
    });
  });

  it("Cluster Configuration: every VMI inherits the behaviour of mshv, without a word in it", () => {
    const config = clusterConfig(
      configurationOf(`
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata:
  name: kubevirt
  namespace: kubevirt
spec:
  configuration:
    hypervisor:
    - name: mshv
      hypervisorDevice: mshv
      virtType: hyperv
    developerConfiguration:
      featureGates:
        - ConfigurableHypervisor
    imagePullPolicy: Always
  imagePullPolicy: Always
`),
    );
    const hypervisor = registry.select(config.hypervisor);
    const vmi = hypervisor.defaults.applyToInstance(instance(), { config, randomUuid });
    expect(hypervisor.validator.validateVirtualMachineInstanceSpec("spec", vmi.spec, config)).toEqual([]);
    expect(hypervisor.converter.convert(vmi, planningContext(vmi, { config })).type).toBe("hyperv");
    expect(hypervisor.resources.deviceRequests(vmi, config)[0]?.resourceName).toBe("devices.kubevirt.io/mshv");
  });

  describe("Defaults", () => {
    it("run Base, Hypervisor, Architecture, Hypervisor+Architecture, Finalization", () => {
      const seen: string[] = [];
      const step = (name: string) => ({ name, set: () => undefined });
      const hypervisor = own({
        defaults: { hypervisor: [step("h")], pair: { amd64: [step("p")], arm64: [step("q")] } },
      });
      hypervisor.defaults.applyToInstance(instance(), { config: clusterConfig(), randomUuid }, ({ layer }) => {
        if (seen.at(-1) !== layer) seen.push(layer);
      });
      expect(seen).toEqual(defaultsLayers);
    });

    it("set only zero-value fields at each layer", () => {
      const set = { machine: { type: "pc-q35-7.2" }, cpu: { model: "Haswell", cores: 3 } };
      const { domain } = mshv.defaults.applyToInstance(instance(set), { config: clusterConfig(), randomUuid }).spec;
      expect(domain).toMatchObject(set);
    });

    it("finalize derived data: topology, memory status, hotplug sizing, feature dependencies", () => {
      const vmi = kvm.defaults.applyToInstance(
        instance({ memory: { guest: "2Gi" }, features: { hyperv: { synictimer: {} } } }),
        { config: clusterConfig(), randomUuid },
      );
      expect(vmi.status).toMatchObject({
        currentCPUTopology: { sockets: 1, cores: 1, threads: 1 },
        memory: { guestAtBoot: "2Gi" },
      });
      expect(vmi.spec.domain).toMatchObject({
        cpu: { maxSockets: 4 },
        memory: { maxGuest: "8Gi" },
        features: { hyperv: { synic: { enabled: true }, vpindex: { enabled: true } } },
      });
    });

    it("a hypervisor overrides one setter (the eviction strategy) and keeps the rest", () => {
      const hypervisor = own({
        defaults: {
          replace: [{ name: "eviction-strategy", set: ({ spec }) => void (spec.evictionStrategy ??= "None") }],
        },
      });
      const { spec } = hypervisor.defaults.applyToInstance(instance(), { config: clusterConfig(), randomUuid });
      expect(spec).toMatchObject({ evictionStrategy: "None", domain: { machine: { type: "q35" } } });
    });

    it("are found under composite keys", () => {
      expect(registry.platform("mshv/arm64").hypervisor).toBe(mshv);
    });
  });

  describe("Validation", () => {
    it("For MSHV hypervisor, the guest's CPU model has to be qemu64-v1", () => {
      const validate = (model: string) =>
        mshv.validator.validateVirtualMachineInstanceSpec("spec", instance({ cpu: { model } }).spec, clusterConfig());
      expect(validate("qemu64-v1")).toEqual([]);
      expect(validate("Skylake")).toHaveLength(1);
    });

    it("runs common checks, then the hypervisor's, then those of the pair, and never sets anything", () => {
      const rule = (name: string) => ({
        name,
        check: (_: unknown, report: { invalid: (field: string, message: string) => void }) =>
          report.invalid("spec", name),
      });
      const { validator } = own({
        validation: { rules: [rule("own")], pair: { amd64: [rule("pair")], arm64: [rule("x")] } },
      });
      const { spec } = instance({ machine: { type: "pc" } });
      const before = structuredClone(spec);
      const messages = validator
        .validateVirtualMachineInstanceSpec("spec", spec, clusterConfig())
        .map(({ message }) => message);
      expect(messages[0]).toContain("spec.domain.machine.type is not supported: pc");
      expect(messages.slice(-2)).toEqual(["own", "pair"]);
      expect(spec).toEqual(before);
    });
  });

  it("Converter: a base configurator is overridden, an extra one added, the serial device replaced", () => {
    const title = (name: string, text: string): Configurator => ({
      name,
      configure: (domain) => void (domain.title = text),
    });
    const { converter, defaults } = own({ configurators: [title("watchdog", "replaced"), title("extra", "extended")] });
    const names = converter.configurators.map(({ name }) => name);
    expect(names.filter((name) => name === "watchdog")).toHaveLength(1);
    expect(names.at(-1)).toBe("extra");
    const vmi = defaults.applyToInstance(instance(), { config: clusterConfig(), randomUuid });
    expect(converter.convert(vmi, converterContext(vmi)).title).toBe("extended");
  });

  it("Runtime: tuner and resources can be implemented anew", () => {
    const resources = { ...kvm.resources, getMemoryOverhead: () => ({ bytes: 7, terms: [{ name: "own", bytes: 7 }] }) };
    const hypervisor = own({ parts: { resources } });
    expect(hypervisor.resources.getMemoryOverhead(instance(), { architecture: "amd64" }).bytes).toBe(7);
    expect(hypervisor.withNode(kvm.node).resources).toBe(resources);
  });

  it("Scheduling and Device Management: composite requirements, some of them optional", () => {
    const firmware = { device: "mshv-firmware", optional: true, reason: "its firmware" };
    const { resources } = own({ node: { ...mshv.node, auxiliaryDevices: [firmware] } });
    expect(resources.deviceRequests(instance(), clusterConfig()).slice(0, 2)).toMatchObject([
      { resourceName: "devices.kubevirt.io/mshv", optional: false },
      { resourceName: "devices.kubevirt.io/mshv-firmware", optional: true },
    ]);
  });
});

describe("Multi-Architecture Software Emulation", () => {
  const armExample = parse(`
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: arm64-vmi
spec:
  architecture: arm64
  domain:
    machine:
      type: virt
    devices:
      disks:
      - name: containerdisk
        disk:
          bus: virtio
    resources:
      requests:
        memory: 1Gi
  volumes:
  - name: containerdisk
    containerDisk:
      image: quay.io/containerdisks/fedora:40-aarch64
`) as VirtualMachineInstance; // Complete as it stands.

  const enabled = configurationOf(`
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata:
  name: kubevirt
  namespace: kubevirt
spec:
  configuration:
    developerConfiguration:
      useEmulation: true
      featureGates:
      - MultiArchitectureSoftwareEmulation
`);

  function convert(vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration, hasExecutable = true) {
    const config = clusterConfig(configuration, "amd64");
    const complete = kvm.defaults.applyToInstance(vmi, { config, randomUuid });
    const context = planningContext(complete, { config, hostArchitecture: "amd64", accelerated: false });
    return kvm.converter.convert(complete, {
      ...context,
      host: { ...context.host, hasExecutable: () => hasExecutable },
    });
  }

  it("Create an ARM64 VMI: runs on amd64 by emulation, with the emulator of its architecture", () => {
    const domain = convert(armExample, enabled);
    expect(writeDomain(domain)).toMatch(/<domain[^>]* type='qemu'>/);
    expect(writeDomain(domain)).toContain("<emulator>/usr/bin/qemu-system-aarch64</emulator>");
    expect(domain.os?.type).toEqual({ value: "hvm", arch: "aarch64", machine: "virt" });
    expect(validateDomain(domain)).toEqual([]);
  });

  it("Domain XML Output: same-architecture emulation names no emulator", () => {
    const domain = convert(instance(), enabled);
    expect(domain.type).toBe("qemu");
    expect(domain.devices?.emulator).toBeUndefined();
  });

  it("accepts KubeVirt's later name of the gate", () => {
    const featureGates = ["CrossArchitectureVirtualization"];
    const domain = convert(armExample, { developerConfiguration: { useEmulation: true, featureGates } });
    expect(domain.devices?.emulator).toBe("/usr/bin/qemu-system-aarch64");
  });

  // Feature Gate Configuration, row by row; there is no KVM on this node.
  const row = (gate: boolean, useEmulation: boolean, architecture: string) => {
    const featureGates = gate ? ["MultiArchitectureSoftwareEmulation"] : [];
    return convert(instance({}, { architecture }), { developerConfiguration: { useEmulation, featureGates } });
  };

  it.each([
    { gate: false, guest: "amd64", emulator: undefined },
    { gate: true, guest: "arm64", emulator: "/usr/bin/qemu-system-aarch64" },
    { gate: true, guest: "amd64", emulator: undefined },
  ])("Feature Gate Configuration: gate $gate, useEmulation true, amd64 → $guest", ({ gate, guest, emulator }) => {
    expect(row(gate, true, guest)).toMatchObject({ type: "qemu", devices: emulator === undefined ? {} : { emulator } });
  });

  it.each([
    {
      gate: false,
      useEmulation: true,
      message:
        "Cross-architecture emulation not enabled. Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration.",
    },
    {
      gate: true,
      useEmulation: false,
      message: "kvm not present or cross-arch requested, but emulation not allowed",
    },
  ])(
    "Feature Gate Configuration: gate $gate, useEmulation $useEmulation, amd64 → arm64 is an error",
    ({ gate, useEmulation, message }) => {
      expect(() => row(gate, useEmulation, "arm64")).toThrow(message);
    },
  );

  it("User Experience: says which binary the node lacks", () => {
    expect(() => convert(armExample, enabled, false)).toThrow(
      "Required emulator binary /usr/bin/qemu-system-aarch64 not found on node",
    );
  });

  it.each([
    ["amd64", "q35"],
    ["arm64", "virt"],
    ["s390x", "s390-ccw-virtio"],
  ])("Machine Type Handling: the guest's architecture decides, %s gets %s", (architecture, type) => {
    expect(convert(instance({}, { architecture }), enabled).os?.type?.machine).toBe(type);
  });

  it("Machine Type Handling: an explicit type must suit the guest's architecture", () => {
    const { spec } = instance({ machine: { type: "q35" } }, { architecture: "arm64" });
    expect(kvm.validator.validateVirtualMachineInstanceSpec("spec", spec, clusterConfig(enabled))).toContainEqual({
      reason: "FieldValueInvalid",
      field: "spec.domain.machine.type",
      message: "spec.domain.machine.type is not supported: q35 (allowed values: [virt*])",
    });
  });
});
