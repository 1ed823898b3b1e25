import type { KubeVirtConfiguration, VirtualMachineInstance } from "@polyvirt/api";
import type { ProcessIdentity } from "@polyvirt/host";
import { registry, resolveClusterConfig } from "@polyvirt/hypervisor";
import { describe, expect, it } from "vitest";
import { domainWith, vmiWith } from "../testing/objects.ts";
import { createDomainTuning, type TuningMachine } from "./domain-tuning.ts";

const LAUNCHER = { identity: { pid: 100, startTime: "1", bootId: "b" }, uid: 107, gid: 107 };

function setUp(configuration: KubeVirtConfiguration = {}, change: Partial<TuningMachine> = {}) {
  const done: string[] = [];
  const machine: TuningMachine = {
    processTree: () => [
      { pid: 100, command: "node" },
      { pid: 101, command: "qemu-system-x86" },
    ],
    identify: (pid): ProcessIdentity => ({ pid, startTime: "1", bootId: "b" }),
    claimDevice: (_identity, name, { uid }) => done.push(`claim ${name} for ${uid}`),
    raiseMemoryLockLimit: ({ pid }, bytes) => done.push(`lock ${pid} ${bytes}`),
    threads: () => [
      { tid: 101, name: "qemu-system-x86" },
      { tid: 102, name: "CPU 0/KVM" },
      { tid: 103, name: "vcpu-0" },
    ],
    kernelThreads: () => [
      { tid: 900, name: "kvm-pit/7" },
      { tid: 901, name: "my-pit/7" },
    ],
    innermostPid: () => 7,
    moveThreads: (pid, cpus, threads) => done.push(`move ${threads.join()} of ${pid} to ${cpus}`),
    pinThread: (tid, cpus) => done.push(`pin ${tid} to ${cpus.join()}`),
    ...change,
  };
  const config = resolveClusterConfig(configuration, { hostArchitecture: "amd64" });
  return { done, tuning: createDomainTuning({ config: () => config, hypervisors: registry, machine }) };
}

function guest(domain: Partial<VirtualMachineInstance["spec"]["domain"]>): VirtualMachineInstance {
  return {
    ...vmiWith(),
    spec: { architecture: "amd64", domain: { devices: {}, memory: { guest: "1Gi" }, ...domain } },
  };
}

describe("adjustResources", () => {
  it("lets everything in the launcher's pod lock the guest's memory, when the guest drives devices", () => {
    const { tuning, done } = setUp();
    tuning.adjustResources(guest({ devices: { gpus: [{ name: "g", deviceName: "x/y" }] } }), LAUNCHER);
    const [claim, first = "", second = ""] = done;
    expect(claim).toBe("claim kvm for 107");
    expect(first).toMatch(/^lock 100 \d{10}$/);
    expect(second).toBe(first.replace("100", "101"));
  });

  it("leaves other guests as they are", () => {
    const { tuning, done } = setUp();
    tuning.adjustResources(guest({}), LAUNCHER);
    tuning.adjustResources(guest({ devices: { gpus: [{ name: "g", deviceName: "x/y" }] } }), undefined);
    expect(done).toEqual(["claim kvm for 107"]);
  });

  it("does not hide that the right for it is missing", () => {
    const { tuning } = setUp(
      {},
      {
        raiseMemoryLockLimit: () => {
          throw new Error("the kernel refuses; CAP_SYS_RESOURCE is needed for it");
        },
      },
    );
    const vmi = guest({ memory: { guest: "1Gi", reservedOverhead: { memLock: "Required" } } });
    expect(() => tuning.adjustResources(vmi, LAUNCHER)).toThrow(/CAP_SYS_RESOURCE/);
  });
});

describe("handleHousekeeping", () => {
  const isolated = guest({ cpu: { cores: 1, dedicatedCpuPlacement: true, isolateEmulatorThread: true } });
  const cputune = { emulatorpin: { cpuset: "6-7" }, vcpupins: [{ vcpu: 0, cpuset: "4" }] };
  const running = { ...domainWith("Running"), definition: { cputune } };

  it("gives all but the vCPUs CPUs of their own, and lets the timer follow vCPU 0", () => {
    const { tuning, done } = setUp();
    expect(tuning.handleHousekeeping(isolated, running, LAUNCHER)).toBe(true);
    expect(done).toEqual(["move 101,103 of 101 to 6,7", "pin 900 to 4"]);
  });

  it("goes by the names of the cluster's stack", () => {
    const { tuning, done } = setUp({
      developerConfiguration: { featureGates: ["PluginVirtualizationStacks"] },
      virtualizationProfile: {
        virtualizationComponents: {
          vCpuRegex: "^vcpu-(\\d+)\n$",
          vmmProcessExecutable: "node",
          pitPidPrefix: "my-pit",
        },
      },
    });
    tuning.handleHousekeeping(isolated, running, LAUNCHER);
    expect(done).toEqual(["move 101,102 of 100 to 6,7", "pin 901 to 4"]);
  });

  it.each([
    ["a guest that did not ask for it", guest({}), running],
    ["a machine that says nothing of CPUs", isolated, domainWith("Running")],
    ["a machine whose definition is none", isolated, { ...domainWith("Running"), definition: "x" }],
  ])("does nothing for %s", (_what, vmi, domain) => {
    const { tuning, done } = setUp();
    expect(tuning.handleHousekeeping(vmi, domain, LAUNCHER)).toBe(false);
    expect(done).toEqual([]);
  });
});
