import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { converterContext, instance } from "../testing/fixtures.ts";

const vmi = instance(
  { cpu: { cores: 2, dedicatedCpuPlacement: true, isolateEmulatorThread: true }, memory: { guest: "1Gi" } },
  { architecture: "amd64" },
);

const input = {
  vmmPid: 12,
  threads: [
    { tid: 100, name: "qemu-system-x86" },
    { tid: 101, name: "CPU 0/KVM" },
    { tid: 102, name: "CPU 1/KVM" },
    { tid: 103, name: "worker" },
  ],
  kernelThreads: [
    { tid: 900, name: "kvm-pit/11" },
    { tid: 901, name: "kvm-pit/12" },
  ],
};

function plan(hypervisor: string, changed = vmi, threads = input.threads) {
  const chosen = registry.get(hypervisor);
  const domain = chosen.converter.convert(changed, converterContext(changed));
  return chosen.tuner.handleHousekeeping(changed, domain, { ...input, threads });
}

describe("housekeeping", () => {
  it("moves everything but the vCPUs, and lets the timer follow vCPU 0", () => {
    expect(plan("kvm")).toEqual({
      housekeepingCpus: [6, 7, 8, 9, 10, 11],
      moveToHousekeeping: [100, 103],
      pin: [{ tid: 901, cpus: [4] }],
    });
  });

  it("knows each hypervisor's names: mshv has no timer thread", () => {
    const threads = input.threads.map(({ tid, name }) => ({ tid, name: name.replace("KVM", "MSHV") }));
    expect(plan("mshv", vmi, threads)).toMatchObject({ moveToHousekeeping: [100, 103], pin: [] });
  });

  it("leaves guests alone that did not ask for isolation", () => {
    const plain = instance({ cpu: { cores: 2, dedicatedCpuPlacement: true } }, { architecture: "amd64" });
    expect(plan("kvm", plain)).toEqual({ housekeepingCpus: [], moveToHousekeeping: [], pin: [] });
  });
});
