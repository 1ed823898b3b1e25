import { describe, expect, it } from "vitest";
import { registry } from "./builtin.ts";
import { resolveClusterConfig } from "./cluster-config.ts";
import { defineHypervisor } from "./define-hypervisor.ts";
import { HypervisorRegistry } from "./registry.ts";

const other = defineHypervisor({
  name: "other",
  aliases: ["another"],
  node: { hypervisorDevice: "other", virtType: "kvm", architectures: ["amd64"] },
  processes: { vmmPrefixes: ["vmm"], vcpuThreadWords: ["CPU"] },
});

describe("HypervisorRegistry", () => {
  it("has kvm and mshv, the latter also under KubeVirt's name", () => {
    expect(registry.names()).toEqual(["kvm", "mshv"]);
    expect(registry.get("hyperv-direct")).toBe(registry.get("mshv"));
  });

  it("reads composite keys", () => {
    expect(registry.platform("mshv/arm64")).toEqual({ hypervisor: registry.get("mshv"), architecture: "arm64" });
    expect(() => registry.platform("kvm")).toThrow("write hypervisor/architecture");
    expect(() => registry.platform("kvm/ppc64le")).toThrow("write hypervisor/architecture");
  });

  it("names what it knows when a name is unknown", () => {
    expect(() => registry.get("xen")).toThrow("find hypervisor xen: known are kvm, mshv");
  });

  it("holds each name once, and nothing of a hypervisor that it refuses", () => {
    const own = new HypervisorRegistry([other]);
    const clash = defineHypervisor({
      name: "third",
      aliases: ["another"],
      node: other.node,
      processes: other.tuner.processes,
    });
    expect(() => own.register(clash)).toThrow("the name another is taken");
    expect(own.has("third")).toBe(false);
  });
});

describe("a registry with more", () => {
  it("knows both, and leaves the first as it was", () => {
    const extended = registry.with(other);
    expect(extended.names()).toEqual(["kvm", "mshv", "other"]);
    expect(extended.get("hyperv-direct")).toBe(registry.get("mshv"));
    expect(registry.has("other")).toBe(false);
    expect(() => extended.with(other)).toThrow("the name other is taken");
  });
});

describe("hypervisor of the cluster", () => {
  const gate = { developerConfiguration: { featureGates: ["ConfigurableHypervisor"] } };
  const select = (configuration: Parameters<typeof resolveClusterConfig>[0]) =>
    registry.select(resolveClusterConfig(configuration, { hostArchitecture: "amd64" }).hypervisor);

  it.each([
    { name: "no configuration", configuration: undefined },
    { name: "an empty list", configuration: { ...gate, hypervisors: [] } },
    { name: "the gate is off", configuration: { hypervisors: [{ name: "mshv" }] } },
    { name: "an empty name", configuration: { ...gate, hypervisors: [{ name: "" }] } },
  ])("is kvm with $name", ({ configuration }) => {
    expect(select(configuration).name).toBe("kvm");
  });

  it("is the configured one, under either spelling of the field", () => {
    expect(select({ ...gate, hypervisors: [{ name: "hyperv-direct" }] }).name).toBe("mshv");
    expect(select({ ...gate, hypervisor: [{ name: "mshv" }] }).name).toBe("mshv");
  });

  it("takes device and type from the configuration where they are given", () => {
    const hypervisor = select({
      ...gate,
      hypervisor: [{ name: "mshv", hypervisorDevice: "mshv-next", virtType: "hyperv" }],
    });
    expect(hypervisor.node).toMatchObject({ hypervisorDevice: "mshv-next", virtType: "hyperv" });
    expect(hypervisor.name).toBe("mshv");
  });
});
