import type { KernelTree } from "@polyvirt/host";

/** How the node's CPUs and memory lie to each other: what launchers need to give guests NUMA cells. */
export interface NodeTopology {
  readonly numaCells: NumaCell[];
}

interface NumaCell {
  readonly id: number;
  readonly memory: { readonly amount: bigint; readonly unit: string };
  readonly pages: { readonly count: bigint; readonly unit: string; readonly size: number }[];
  readonly distances: { readonly id: number; readonly value: bigint }[];
  readonly cpus: { readonly id: number; readonly siblings: number[] }[];
}

const NODES = "devices/system/node";

/** Reads the topology from sysfs; a machine without NUMA is one cell. */
export function readTopology(sys: KernelTree): NodeTopology {
  const ids = sys
    .list(NODES)
    .flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
  return { numaCells: ids.map((id) => readCell(sys, id, ids)) };
}

function readCell(sys: KernelTree, id: number, ids: readonly number[]): NumaCell {
  const folder = `${NODES}/node${id}`;
  const memory = /MemTotal:\s*(\d+) kB/.exec(sys.read(`${folder}/meminfo`) ?? "")?.[1] ?? "0";
  const distances = (sys.read(`${folder}/distance`) ?? "").split(/\s+/).filter((text) => text !== "");
  return {
    id,
    memory: { amount: BigInt(memory), unit: "KiB" },
    pages: sys.list(`${folder}/hugepages`).flatMap((name) => {
      const size = /^hugepages-(\d+)kB$/.exec(name)?.[1];
      const count = sys.read(`${folder}/hugepages/${name}/nr_hugepages`);
      return size === undefined || count === undefined
        ? []
        : [{ count: BigInt(count), unit: "KiB", size: Number(size) }];
    }),
    distances: distances.map((value, index) => ({ id: ids[index] ?? index, value: BigInt(value) })),
    cpus: parseCpuList(sys.read(`${folder}/cpulist`)).map((cpu) => ({
      id: cpu,
      siblings: parseCpuList(sys.read(`devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`)),
    })),
  };
}

/** The kernel's way to write a set of numbers: `0-3,8`. */
function parseCpuList(text: string | undefined): number[] {
  return (text ?? "")
    .split(",")
    .filter((part) => part !== "")
    .flatMap((part) => {
      const [first = 0, last = first] = part.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}
