import type { Configurator } from "../contract.ts";

/** One NUMA cell with all memory, for guests whose memory can grow: libvirt adds memory to cells only. */
export const numa: Configurator = {
  name: "numa",
  configure(domain) {
    if (domain.maxMemory === undefined || domain.cpu === undefined || domain.cpu.numa !== undefined) return;
    const last = Number(domain.vcpu?.value ?? 1) - 1;
    const cpus = last === 0 ? "0" : `0-${last}`;
    domain.cpu.numa = { cells: [{ id: 0, cpus, memory: domain.memory?.value, unit: domain.memory?.unit }] };
  },
};
