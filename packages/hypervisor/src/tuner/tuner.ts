import type { DomainTuner } from "../contract.ts";
import { parseCpuSet } from "../cpu-set.ts";
import { parseArchitecture } from "../architecture.ts";
import { bytesOf } from "../quantity.ts";
import { memlockSize } from "../resources/memory-overhead.ts";
import type { HousekeepingPlan, ProcessNames } from "./plan.ts";

const noHousekeeping: HousekeepingPlan = { housekeepingCpus: [], moveToHousekeeping: [], pin: [] };

/** The tuner of a hypervisor whose VMM has these process and thread names. */
export function createTuner(processes: ProcessNames): DomainTuner {
  const isVcpuThread = (name: string): boolean => processes.vcpuThreadWords.every((word) => name.includes(word));
  return {
    processes,
    adjustResources(vmi, config) {
      const overhead = config.virtLauncherOverhead;
      const size = memlockSize(vmi, {
        architecture: parseArchitecture(vmi.spec.architecture ?? "") ?? config.defaultArchitecture,
        networkBindings: config.networkBindings,
        ...(config.additionalGuestMemoryOverheadRatio === undefined
          ? {}
          : { ratio: config.additionalGuestMemoryOverheadRatio }),
        ...(overhead === undefined ? {} : { virtLauncherOverheadBytes: bytesOf(overhead) }),
      });
      return size === undefined ? { terms: [] } : { memlockBytes: size.bytes, terms: size.terms };
    },
    handleHousekeeping(vmi, domain, input) {
      const { threads, kernelThreads, vmmPid, isVcpuThread: isVcpu = isVcpuThread } = input;
      const timerPrefix = input.pitThreadPrefix ?? processes.pitThreadPrefix;
      if (vmi.spec.domain.cpu?.isolateEmulatorThread !== true) return noHousekeeping;
      const housekeepingCpus = parseCpuSet(domain.cputune?.emulatorpin?.cpuset ?? "") ?? [];
      if (housekeepingCpus.length === 0) return noHousekeeping;
      const timer =
        timerPrefix === undefined ? undefined : kernelThreads.find(({ name }) => name === `${timerPrefix}${vmmPid}`);
      const firstVcpu = parseCpuSet(domain.cputune?.vcpupins?.find(({ vcpu }) => Number(vcpu) === 0)?.cpuset ?? "");
      return {
        housekeepingCpus,
        moveToHousekeeping: threads.filter(({ name }) => !isVcpu(name)).map(({ tid }) => tid),
        pin: timer === undefined || firstVcpu === undefined ? [] : [{ tid: timer.tid, cpus: firstVcpu }],
      };
    },
  };
}
