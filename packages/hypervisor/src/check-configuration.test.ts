import { describe, expect, it } from "vitest";
import type { KubeVirtSpec, VirtualizationProfile } from "@polyvirt/api";
import { checkConfiguration } from "./check-configuration.ts";

const known = { has: (name: string) => ["kvm", "mshv"].includes(name), names: () => ["kvm", "mshv"] };
const gates = (...featureGates: string[]) => ({ developerConfiguration: { featureGates } });
const patchOf = (type: string, patch: string) => ({
  resourceType: "Deployment",
  resourceName: "virt-api",
  type,
  patch,
});
const profile = (virtualizationProfile: VirtualizationProfile): KubeVirtSpec => ({
  configuration: { ...gates("PluginVirtualizationStacks"), virtualizationProfile },
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
    [
      "the profile of the proposal",
      {
        configuration: {
          ...gates("PluginVirtualizationStacks"),
          virtualizationProfile: {
            name: "libvirt-qemu-kvm",
            virtualizationComponents: {
              hypervisorDevice: "/dev/kvm",
              vCpuRegex: "^CPU (\\d+)/KVM\n$",
              vmmDaemonProcess: "virtqemud",
              vmmProcessExecutable: "qemu-system-x86",
              pitPidPrefix: "kvm-pit",
            },
            virtLauncher: {
              virtLauncherCapabilities: ["NET_BIND_SERVICE"],
              virtLauncherImage: "quay.io/kubevirt/virt-launcher:20250708",
              virtLauncherOverhead: "220Mi",
            },
          },
        },
      },
    ],
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
      "pools with it",
      { configuration: gates("VirtHandlerPools"), virtHandlerPools: [{ name: "gpu", nodeSelector: { a: "b" } }] },
      "stop: spec.virtHandlerPools is not carried out by this version; remove it",
    ],
    [
      "webhooks of a profile",
      profile({ pluginWebhooks: {} }),
      "stop: spec.configuration.virtualizationProfile.pluginWebhooks is not carried out by this version; remove it",
    ],
    [
      "a device that is no device",
      profile({ virtualizationComponents: { hypervisorDevice: "/dev/../etc/shadow" } }),
      'stop: spec.configuration.virtualizationProfile.virtualizationComponents.hypervisorDevice "/dev/../etc/shadow" is not a device; write /dev/NAME',
    ],
    [
      "a thread pattern that cannot be read",
      profile({ virtualizationComponents: { vCpuRegex: "CPU (" } }),
      'stop: spec.configuration.virtualizationProfile.virtualizationComponents.vCpuRegex "CPU (" is not a regular expression',
    ],
    [
      "a capability with its prefix",
      profile({ virtLauncher: { virtLauncherCapabilities: ["NET_ADMIN", "CAP_SYS_NICE"] } }),
      'stop: spec.configuration.virtualizationProfile.virtLauncher.virtLauncherCapabilities[1] "CAP_SYS_NICE" is not a capability; write it without CAP_, for example NET_BIND_SERVICE',
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
