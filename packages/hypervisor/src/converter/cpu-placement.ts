import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Configurator, DraftDomain } from "../contract.ts";
import { formatCpuSet, parseCpuSet } from "../cpu-set.ts";
import { topologyOf } from "../vcpus.ts";
import type { CpuPlacement } from "./context.ts";
import { refuse } from "./refuse.ts";

/** Pins virtual CPUs, the emulator and I/O threads to the CPUs that the pod has for itself. */
export const cpuPlacement: Configurator = {
  name: "cpu-placement",
  configure(domain, vmi, context) {
    if (vmi.spec.domain.cpu?.dedicatedCpuPlacement !== true) return;
    const placement = context.cpuPlacement;
    if (placement === undefined) {
      throw refuse(
        "spec.domain.cpu.dedicatedCpuPlacement",
        "the launcher does not know which CPUs the pod has for itself",
      );
    }
    const { vcpus, rest } = place(vmi, placement);
    const emulator = vmi.spec.domain.cpu.isolateEmulatorThread === true ? rest : vcpus;
    if (emulator.length === 0) {
      throw refuse("spec.domain.cpu.isolateEmulatorThread", "the pod has no CPU left for the emulator");
    }
    const iothreads = Number(domain.iothreads ?? 0);
    domain.cputune = {
      vcpupins: vcpus.map((cpu, vcpu) => ({ vcpu, cpuset: `${cpu}` })),
      emulatorpin: { cpuset: formatCpuSet(emulator) },
      iothreadpins:
        iothreads === 0
          ? undefined
          : Array.from({ length: iothreads }, (_, index) => ({ iothread: index + 1, cpuset: formatCpuSet(emulator) })),
      vcpuscheds: realtimeSchedule(vmi, vcpus.length),
    };
    if (vmi.spec.domain.cpu.numa?.guestMappingPassthrough !== undefined) mapNuma(domain, vcpus, placement);
  },
};

/** Guest threads of one core go to sibling CPUs of the host, so that they really share a core. */
function place(
  vmi: VirtualMachineInstance,
  { dedicatedCpus, threadSiblings }: CpuPlacement,
): { vcpus: number[]; rest: number[] } {
  const { sockets, cores, threads } = topologyOf(vmi.spec.domain.cpu);
  const needed = sockets * cores * threads;
  if (dedicatedCpus.length < needed) {
    throw refuse(
      "spec.domain.cpu",
      `the guest has ${needed} vCPUs but the pod only ${dedicatedCpus.length} CPUs of its own`,
    );
  }
  const free = new Set(dedicatedCpus);
  const vcpus: number[] = [];
  const take = (cpus: readonly number[]): void => {
    for (const cpu of cpus) {
      free.delete(cpu);
      vcpus.push(cpu);
    }
  };
  if (threads > 1) {
    for (const siblings of threadSiblings) {
      const available = siblings.filter((cpu) => free.has(cpu));
      if (available.length >= threads && vcpus.length < needed) take(available.slice(0, threads));
    }
  }
  take([...free].sort((a, b) => a - b).slice(0, needed - vcpus.length));
  return { vcpus, rest: [...free] };
}

function realtimeSchedule(vmi: VirtualMachineInstance, count: number) {
  const realtime = vmi.spec.domain.cpu?.realtime;
  if (realtime === undefined) return undefined;
  const chosen = realtime.mask ? parseCpuSet(realtime.mask) : undefined;
  const vcpus = chosen ?? Array.from({ length: count }, (_, index) => index);
  return [{ vcpus: formatCpuSet(vcpus), scheduler: "fifo", priority: 1 }];
}

/** One guest cell for each host node that lends CPUs, with memory in proportion, bound to that node. */
function mapNuma(domain: DraftDomain, vcpus: readonly number[], { nodes }: CpuPlacement): void {
  const used = nodes
    .map(({ id, cpus }) => ({ node: id, vcpus: vcpus.flatMap((cpu, vcpu) => (cpus.includes(cpu) ? [vcpu] : [])) }))
    .filter((cell) => cell.vcpus.length > 0);
  if (used.length === 0 || domain.cpu === undefined) return;
  const total = Number(domain.memory?.value ?? 0);
  const page = Number(domain.memoryBacking?.hugepages?.pages?.[0]?.size ?? 4) * 1024;
  const share = Math.floor(total / used.length / page) * page;
  domain.cpu.numa = {
    cells: used.map((cell, id) => ({
      id,
      cpus: formatCpuSet(cell.vcpus),
      memory: id === 0 ? total - share * (used.length - 1) : share,
      unit: "b",
    })),
  };
  domain.numatune = {
    memory: { mode: "strict", nodeset: formatCpuSet(used.map(({ node }) => node)) },
    memnodes: used.map(({ node }, cellid) => ({ cellid, mode: "strict", nodeset: `${node}` })),
  };
}
