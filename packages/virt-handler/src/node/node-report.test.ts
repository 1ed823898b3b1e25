import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { KubeVirtConfiguration } from "@polyvirt/api";
import { silentLogger } from "@polyvirt/core";
import { openKernelTree } from "@polyvirt/host";
import { resolveClusterConfig, type Architecture } from "@polyvirt/hypervisor";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeReport } from "./node-report.ts";
import { readExportedCapabilities } from "./labeller/capabilities-export.ts";
import { labelChange } from "./labeller/label-change.ts";
import { readTopology } from "./labeller/topology.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pv-node-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

const exportFor = (architecture: string, capabilities: object): void =>
  file(`export/capabilities-${architecture}.json`, JSON.stringify({ architecture, ...capabilities }));

function report(hostArchitecture: Architecture = "amd64", configuration: KubeVirtConfiguration = {}) {
  const tree = (name: string) => openKernelTree(join(folder, name));
  return nodeReport({
    hostArchitecture,
    exported: readExportedCapabilities(join(folder, "export"), silentLogger),
    config: resolveClusterConfig(configuration, { hostArchitecture }),
    configuration,
    hypervisorDevice: "kvm",
    sys: tree("sys"),
    proc: tree("proc"),
    dev: tree("dev"),
    kubelet: tree("kubelet"),
  });
}

const names = (hostArchitecture?: Architecture, configuration?: KubeVirtConfiguration) =>
  Object.keys(report(hostArchitecture, configuration).labels);

/** What libvirt told of a Skylake machine with SEV, as a launcher exports it. */
const skylake = {
  hypervFeatures: ["base", "vpindex"],
  supportedMachineTypes: [{ name: "q35" }, { name: "pc-q35-7.2" }, { name: "isapc" }, { name: "pc-i440fx-7.2" }],
  supportedCpuModels: [
    { name: "EPYC-IBPB", usable: false },
    { name: "Penryn", usable: true },
    { name: "Haswell", usable: true },
    { name: "Opteron_G2", usable: true },
  ],
  hostCpuModel: { name: "Skylake-Client-IBRS", vendor: "Intel", requiredFeatures: ["ds", "acpi", "ss"] },
  supportedCpuFeatures: ["vmx", "not a label"],
  nodeTscInfo: { frequencyHz: "2904000000", scalable: true },
  nodeSevFeatures: { supported: true, encryptedStateSupported: true },
};

describe("the labels of an amd64 node", () => {
  it("are what its launcher exported", () => {
    exportFor("amd64", skylake);
    expect(report().labels).toEqual({
      "kubevirt.io/ksm-enabled": "false",
      "kubevirt.io/vm-arch-amd64": "true",
      "machine-type.node.kubevirt.io/q35": "true",
      "machine-type.node.kubevirt.io/pc-q35-7.2": "true",
      "cpu-feature.node.kubevirt.io/vmx": "true",
      "cpu-model.node.kubevirt.io/Penryn": "true",
      "cpu-model.node.kubevirt.io/Haswell": "true",
      "cpu-model-migration.node.kubevirt.io/EPYC-IBPB": "true",
      "cpu-model-migration.node.kubevirt.io/Penryn": "true",
      "cpu-model-migration.node.kubevirt.io/Haswell": "true",
      "cpu-model-migration.node.kubevirt.io/Opteron_G2": "true",
      "host-model-cpu.node.kubevirt.io/Skylake-Client-IBRS": "true",
      "host-model-required-features.node.kubevirt.io/ds": "true",
      "host-model-required-features.node.kubevirt.io/acpi": "true",
      "host-model-required-features.node.kubevirt.io/ss": "true",
      "cpu-vendor.node.kubevirt.io/Intel": "true",
      "hyperv.node.kubevirt.io/base": "true",
      "hyperv.node.kubevirt.io/vpindex": "true",
      "cpu-timer.node.kubevirt.io/tsc-frequency": "2904000000",
      "cpu-timer.node.kubevirt.io/tsc-scalable": "true",
      "scheduling.node.kubevirt.io/tsc-frequency-2904000000": "true",
      "kubevirt.io/sev": "true",
      "kubevirt.io/sev-es": "true",
    });
  });

  it("follow the administrator's list of obsolete models", () => {
    exportFor("amd64", skylake);
    const labels = names("amd64", { obsoleteCPUModels: { Haswell: true, Penryn: false, "Skylake-Client-IBRS": true } });
    expect(labels).toContain("cpu-model.node.kubevirt.io/Penryn");
    expect(labels).toContain("cpu-model.node.kubevirt.io/Opteron_G2");
    expect(labels).not.toContain("cpu-model.node.kubevirt.io/Haswell");
    expect(labels).toContain("node-labeller.kubevirt.io/obsolete-host-model");
  });

  it("tell of other guests where an emulator for them was found, with their machines", () => {
    exportFor("amd64", {});
    exportFor("s390x", {
      supportedMachineTypes: [{ name: "s390-ccw-virtio-7.2" }],
      supportedCpuModels: [{ name: "z14" }],
    });
    file("export/capabilities-riscv64.json", "{}");
    file("export/capabilities-arm64.json", "broken");
    expect(names()).toEqual([
      "kubevirt.io/ksm-enabled",
      "kubevirt.io/vm-arch-amd64",
      "kubevirt.io/vm-arch-s390x",
      "machine-type.node.kubevirt.io/s390-ccw-virtio-7.2",
    ]);
  });

  it("tell what the kernel shows", () => {
    file("sys/kernel/mm/ksm/run", "1\n");
    file("proc/sys/kernel/sched_rt_runtime_us", "-1\n");
    file("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
    expect(report().labels).toMatchObject({
      "kubevirt.io/ksm-enabled": "true",
      "kubevirt.io/realtime": "true",
      "cpu-vendor.node.kubevirt.io/AMD": "true",
    });
  });

  it("say whether CPUs can be had whole, when that is asked for", () => {
    const configuration = { developerConfiguration: { featureGates: ["CPUManager"] } };
    expect(report("amd64", configuration).labels).toMatchObject({ "kubevirt.io/cpumanager": "false" });
    file("kubelet/cpu_manager_state", '{"policyName":"static","defaultCpuSet":"0-3"}');
    expect(report("amd64", configuration).labels).toMatchObject({
      "kubevirt.io/cpumanager": "true",
      cpumanager: "true",
    });
    expect(names()).not.toContain("kubevirt.io/cpumanager");
  });
});

describe("the labels of other nodes", () => {
  it("have no models on arm64", () => {
    exportFor("arm64", { ...skylake, supportedMachineTypes: [{ name: "virt-7.2" }, { name: "raspi3b" }] });
    const labels = names("arm64");
    expect(labels).toContain("machine-type.node.kubevirt.io/virt-7.2");
    expect(labels.filter((name) => /raspi|cpu-model|cpu-feature|host-model|hyperv/.test(name))).toEqual([]);
  });

  it("name the vendor and secure execution on s390x", () => {
    file("sys/firmware/uv/prot_virt_host", "1\n");
    expect(report("s390x").labels).toMatchObject({
      "cpu-vendor.node.kubevirt.io/IBM": "true",
      "kubevirt.io/s390-pv": "true",
    });
  });
});

describe("labelChange", () => {
  it("takes stale labels of ours away, those of older versions too, and leaves others' alone", () => {
    const current = {
      "kubernetes.io/arch": "amd64",
      "kubevirt.io/schedulable": "true",
      "kubevirt.io/hypervisor": "mshv",
      "cpu-model.node.kubevirt.io/Old": "true",
      "cpu-vendor.node.kubevirt.io/AMD": "true",
      "kubevirt.io/s390-pv": "true",
      "feature.node.kubevirt.io/cpu-model-Old": "true",
      "kubevirt.io/vm-arch-amd64": "true",
      "kubevirt.io/ksm-enabled": "true",
    };
    expect(labelChange(current, { "kubevirt.io/vm-arch-amd64": "true", "kubevirt.io/ksm-enabled": "false" })).toEqual({
      "cpu-model.node.kubevirt.io/Old": null,
      "cpu-vendor.node.kubevirt.io/AMD": null,
      "kubevirt.io/s390-pv": null,
      "feature.node.kubevirt.io/cpu-model-Old": null,
      "kubevirt.io/ksm-enabled": "false",
    });
  });
});

describe("the condition of a node", () => {
  const probe = (hypervisorDevice: object) => {
    file("dev/kvm", "");
    exportFor("amd64", { hypervisorDevice: { path: "/dev/kvm", ...hypervisorDevice } });
    return report().condition;
  };

  it("says that there is no device", () => {
    expect(report().condition).toEqual({
      type: "KubeVirtHypervisorDeviceUsable",
      status: "False",
      reason: "DeviceMissing",
      message: "/dev/kvm does not exist on this node",
    });
  });

  it("does not believe a device that nobody has tried", () => {
    file("dev/kvm", "");
    expect(report().condition).toMatchObject({ status: "Unknown", reason: "NotProbed" });
  });

  it("says why a device that is there is of no use", () => {
    const reason = "the guest made no progress within 2 s";
    expect(probe({ usable: false, reason, probeMilliseconds: "2000" })).toMatchObject({
      status: "False",
      reason: "ProbeFailed",
      message: "/dev/kvm is of no use: the guest made no progress within 2 s",
    });
  });

  it("says what to do when the device has come since it was looked for", () => {
    expect(probe({ usable: false, reason: "there is no /dev/kvm" })).toMatchObject({
      status: "Unknown",
      reason: "NotProbed",
      message: expect.stringMatching(/there is no \/dev\/kvm.*restart/),
    });
  });

  it("says that guests run", () => {
    expect(probe({ usable: true, probeMilliseconds: "41" })).toMatchObject({
      status: "True",
      message: "a guest ran on /dev/kvm and ended after 41 ms",
    });
  });
});

describe("readTopology", () => {
  it("reads cells, pages, distances and siblings from sysfs", () => {
    file("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       65536 kB\nNode 0 MemFree: 1 kB\n");
    file("sys/devices/system/node/node0/cpulist", "0-1,4\n");
    file("sys/devices/system/node/node0/distance", "10 21\n");
    file("sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "8\n");
    file("sys/devices/system/node/node1/distance", "21 10\n");
    file("sys/devices/system/node/possible", "0-1\n");
    file("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4\n");
    const { numaCells } = readTopology(openKernelTree(join(folder, "sys")));
    expect(numaCells[0]).toEqual({
      id: 0,
      memory: { amount: 65536n, unit: "KiB" },
      pages: [{ count: 8n, unit: "KiB", size: 2048 }],
      distances: [
        { id: 0, value: 10n },
        { id: 1, value: 21n },
      ],
      cpus: [
        { id: 0, siblings: [0, 4] },
        { id: 1, siblings: [] },
        { id: 4, siblings: [] },
      ],
    });
    expect(numaCells[1]).toMatchObject({ id: 1, cpus: [] });
  });
});
