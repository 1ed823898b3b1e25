import { describe, expect, it } from "vitest";
import type { KubeVirtSpec } from "@polyvirt/api";
import { checkConfiguration } from "./check-configuration.ts";

const known = { has: (name: string) => ["kvm", "mshv"].includes(name), names: () => ["kvm", "mshv"] };
const gates = (...featureGates: string[]) => ({ developerConfiguration: { featureGates } });
const patchOf = (type: string, patch: string) => ({
  resourceType: "Deployment",
  resourceName: "virt-api",
  type,
  patch,
});
const check = (spec: KubeVirtSpec): string[] =>
  checkConfiguration({ metadata: {}, spec }, known).map(
    ({ field, message, blocks }) => `${blocks ? "stop" : "note"}: ${field} ${message}`,
  );

describe("checkConfiguration", () => {
  it.each<[string, KubeVirtSpec]>([
    ["nothing", {}],
    ["emulation", { configuration: { developerConfiguration: { useEmulation: true } } }],
    ["a hypervisor", { configuration: { ...gates("ConfigurableHypervisor"), hypervisor: [{ name: "mshv" }] } }],
    ["KubeVirt's spelling", { configuration: { ...gates("ConfigurableHypervisor"), hypervisors: [{ name: "kvm" }] } }],
    ["the other name of a gate", { configuration: gates("CrossArchitectureVirtualization") }],
  ])("has nothing against %s", (_what, spec) => {
    expect(check(spec)).toEqual([]);
  });

  it.each<[string, KubeVirtSpec, string]>([
    [
      "an unknown hypervisor",
      { configuration: { ...gates("ConfigurableHypervisor"), hypervisor: [{ name: "xen" }] } },
      'stop: spec.configuration.hypervisor[0].name "xen" is not a hypervisor we have; use kvm or mshv',
    ],
    [
      "two hypervisors",
      { configuration: { ...gates("ConfigurableHypervisor"), hypervisor: [{ name: "kvm" }, { name: "mshv" }] } },
      "stop: spec.configuration.hypervisor has 2 entries; a cluster has one hypervisor",
    ],
    [
      "both spellings",
      {
        configuration: {
          ...gates("ConfigurableHypervisor"),
          hypervisor: [{ name: "kvm" }],
          hypervisors: [{ name: "kvm" }],
        },
      },
      "stop: spec.configuration.hypervisors is the same setting as spec.configuration.hypervisor; keep one of them",
    ],
    [
      "a hypervisor without the gate",
      { configuration: { hypervisor: [{ name: "xen" }] } },
      "note: spec.configuration.hypervisor has no effect without the feature gate ConfigurableHypervisor",
    ],
    [
      "pools without the gate",
      { virtHandlerPools: [{ name: "gpu", nodeSelector: { a: "b" } }] },
      "note: spec.virtHandlerPools has no effect without the feature gate VirtHandlerPools",
    ],
    [
      "a gate that does not exist",
      { configuration: gates("HostDsik") },
      "note: spec.configuration.developerConfiguration names the feature gate HostDsik, which does not exist here and has no effect",
    ],
    [
      "a form of patch that we do not have",
      { customizeComponents: { patches: [patchOf("strategic", "{}")] } },
      'stop: spec.customizeComponents.patches[0].type "strategic" is not carried out; use json or merge',
    ],
    [
      "a patch that is no JSON",
      { customizeComponents: { patches: [patchOf("merge", "spec: {}")] } },
      "stop: spec.customizeComponents.patches[0].patch is not JSON",
    ],
    [
      "a wrong pull policy",
      { imagePullPolicy: "Sometimes" },
      'stop: spec.imagePullPolicy "Sometimes" is not a pull policy',
    ],
  ])("reports %s", (_what, spec, problem) => {
    expect(check(spec)).toEqual([problem]);
  });
});
