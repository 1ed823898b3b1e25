import { readFileSync } from "node:fs";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { isJsonObject } from "@polyvirt/core";
import {
  claimDevice,
  identifyProcess,
  innermostPid,
  listThreads,
  moveThreads,
  pinThread,
  processTree,
  raiseMemoryLockLimit,
  type ProcessIdentity,
} from "@polyvirt/host";
import type { ClusterConfig, Hypervisor, HypervisorRegistry } from "@polyvirt/hypervisor";
import type { DomainDocument } from "@polyvirt/protocol";
import { processNames } from "./process-names.ts";

/** Carries out what the hypervisor plans for the processes of a guest. */
export interface DomainTuning {
  /** What the processes of a launcher may do and use, before it starts the machine: the VMM inherits it. */
  adjustResources(vmi: VirtualMachineInstance, launcher: TunedLauncher | undefined): void;
  /** Which CPUs the threads of a running machine's VMM get. True when there was something to do. */
  handleHousekeeping(vmi: VirtualMachineInstance, domain: DomainDocument, launcher: TunedLauncher | undefined): boolean;
}

/** The process that listens on the launcher's socket. */
interface TunedLauncher {
  readonly identity: ProcessIdentity;
  readonly uid: number;
  readonly gid: number;
}

export interface DomainTuningDeps {
  readonly config: () => ClusterConfig;
  readonly hypervisors: Pick<HypervisorRegistry, "select">;
  /** The acts themselves; tests watch them. */
  readonly machine?: TuningMachine;
}

export interface TuningMachine {
  processTree(root: number): readonly { readonly pid: number; readonly command: string }[];
  identify(pid: number): ProcessIdentity | undefined;
  claimDevice(identity: ProcessIdentity, name: string, owner: { readonly uid: number; readonly gid: number }): void;
  raiseMemoryLockLimit(identity: ProcessIdentity, bytes: number): void;
  threads(pid: number): readonly { readonly tid: number; readonly name: string }[];
  kernelThreads(): readonly { readonly tid: number; readonly name: string }[];
  innermostPid(pid: number): number | undefined;
  moveThreads(pid: number, cpus: string, threads: readonly number[]): void;
  pinThread(tid: number, cpus: readonly number[]): void;
}

/** Kernel threads are all children of this one. */
const KTHREADD = 2;
const GROUP = "housekeeping";
/** The machine's own view, through its first process: ours may show only our own group. */
const GROUPS = "/proc/1/root/sys/fs/cgroup";

const thisMachine: TuningMachine = {
  processTree,
  identify: identifyProcess,
  claimDevice,
  raiseMemoryLockLimit,
  threads: listThreads,
  kernelThreads: () => processTree(KTHREADD).map(({ pid, command }) => ({ tid: pid, name: command })),
  innermostPid,
  moveThreads: (pid, cpus, threads) =>
    moveThreads({ root: GROUPS, membership: readFileSync(`/proc/${pid}/cgroup`, "utf8") }, GROUP, cpus, threads),
  pinThread,
};

export function createDomainTuning({ config, hypervisors, machine = thisMachine }: DomainTuningDeps): DomainTuning {
  const hypervisor = (): Hypervisor => hypervisors.select(config().hypervisor);
  const names = () =>
    processNames(hypervisor().tuner.processes, config().virtualizationProfile?.virtualizationComponents);
  return {
    adjustResources(vmi, launcher) {
      if (launcher === undefined) return;
      machine.claimDevice(launcher.identity, hypervisor().node.hypervisorDevice, launcher);
      const { memlockBytes } = hypervisor().tuner.adjustResources(vmi, config());
      if (memlockBytes === undefined) return;
      // A daemon that starts the VMM is below the launcher, too.
      for (const { pid } of machine.processTree(launcher.identity.pid)) {
        const identity = machine.identify(pid);
        if (identity !== undefined) machine.raiseMemoryLockLimit(identity, memlockBytes);
      }
    },
    handleHousekeeping(vmi, { definition }, launcher) {
      if (vmi.spec.domain.cpu?.isolateEmulatorThread !== true || launcher === undefined) return false;
      const vmm = machine.processTree(launcher.identity.pid).find(({ command }) => names().isVmm(command));
      if (vmm === undefined || !isJsonObject(definition)) return false;
      const plan = hypervisor().tuner.handleHousekeeping(vmi, definition, {
        threads: machine.threads(vmm.pid),
        vmmPid: machine.innermostPid(vmm.pid) ?? vmm.pid,
        kernelThreads: machine.kernelThreads(),
        ...names().threads,
      });
      if (plan.housekeepingCpus.length === 0) return false;
      machine.moveThreads(vmm.pid, plan.housekeepingCpus.join(","), plan.moveToHousekeeping);
      for (const { tid, cpus } of plan.pin) machine.pinThread(tid, cpus);
      return true;
    },
  };
}
