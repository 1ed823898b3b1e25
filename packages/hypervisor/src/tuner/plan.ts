import type { MemoryTerm } from "../resources/memory-term.ts";

/** How to recognise the VMM's process and threads on a node. */
export interface ProcessNames {
  /** The VMM's executable begins with one of these. */
  readonly vmmPrefixes: readonly string[];
  /** A vCPU thread's name contains all of these, for example `CPU ` and `KVM`. */
  readonly vcpuThreadWords: readonly string[];
  /** Kernel thread that emulates the programmable timer, followed by the VMM's pid in its namespace. */
  readonly pitThreadPrefix?: string;
}

/** Limits to set on the VMM process; nothing to do when `memlockBytes` is absent. */
export interface ResourceAdjustment {
  readonly memlockBytes?: number;
  /** How the size came about, term by term. */
  readonly terms: readonly MemoryTerm[];
}

export interface HousekeepingInput {
  /** Threads of the VMM process. */
  readonly threads: readonly { readonly tid: number; readonly name: string }[];
  /** Pid of the VMM as the guest's pod sees it: the kernel's timer thread is named after it. */
  readonly vmmPid: number;
  /** Threads of the kernel that may belong to this guest. */
  readonly kernelThreads: readonly { readonly tid: number; readonly name: string }[];
  /** The stack's own way to tell its vCPU threads, and its timer's, from the hypervisor's usual one. */
  readonly isVcpuThread?: (name: string) => boolean;
  readonly pitThreadPrefix?: string;
}

export interface HousekeepingPlan {
  /** CPUs set aside for housekeeping; empty when the guest asked for no isolation. */
  readonly housekeepingCpus: readonly number[];
  readonly moveToHousekeeping: readonly number[];
  /** Threads pinned to given CPUs: the timer thread follows vCPU 0. */
  readonly pin: readonly { readonly tid: number; readonly cpus: readonly number[] }[];
}
