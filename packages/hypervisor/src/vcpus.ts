import type { CPU, DomainSpec } from "@polyvirt/api";
import { cpusOf } from "./quantity.ts";

interface Topology {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
}

/** Sockets, cores and threads, each at least 1. */
export function topologyOf(cpu: CPU | undefined): Topology {
  return { sockets: cpu?.sockets || 1, cores: cpu?.cores || 1, threads: cpu?.threads || 1 };
}

/** Virtual CPUs of the guest when it starts. Without a topology the CPUs that the pod asks for count. */
export function vcpuCount({ cpu, resources }: DomainSpec): number {
  const { sockets, cores, threads } = topologyOf(cpu);
  if (cpu?.sockets || cpu?.cores || cpu?.threads) return sockets * cores * threads;
  const asked = cpusOf(resources?.limits?.["cpu"]) || cpusOf(resources?.requests?.["cpu"]);
  return Math.max(Math.ceil(asked), 1);
}
