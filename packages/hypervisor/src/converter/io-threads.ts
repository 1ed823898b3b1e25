import type { Disk, DomainSpec, VirtualMachineInstance } from "@polyvirt/api";
import type { Configurator } from "../contract.ts";
import { vcpuCount } from "../vcpus.ts";

export interface IoThreads {
  readonly count: number;
  /** Thread of each disk that has exactly one, by disk name; threads count from 1. */
  readonly byDisk: ReadonlyMap<string, number>;
  /** Threads that serve all virtio disks together. */
  readonly pool: readonly number[];
}

const onVirtio = ({ disk, lun, cdrom }: Disk): boolean => (disk ?? lun ?? cdrom)?.bus === "virtio";

/** How many I/O threads the guest gets, and which disk uses which: shared ones first, then one per dedicated disk. */
export function planIoThreads({ devices, ioThreadsPolicy, ioThreads, ...rest }: DomainSpec): IoThreads | undefined {
  const disks = (devices.disks ?? []).filter(onVirtio);
  const dedicated = disks.filter(({ dedicatedIOThread }) => dedicatedIOThread === true);
  if (!ioThreadsPolicy && dedicated.length === 0) return undefined;
  if (ioThreadsPolicy === "supplementalPool") {
    const count = ioThreads?.supplementalPoolThreadCount ?? 1;
    return { count, byDisk: new Map(), pool: Array.from({ length: count }, (_, index) => index + 1) };
  }
  const sharing = disks.filter((disk) => !dedicated.includes(disk));
  // "auto" gives each disk its own thread up to twice the vCPUs; dedicated threads come off that allowance first.
  const allowance = 2 * vcpuCount({ devices, ...rest }) - dedicated.length;
  const shared =
    sharing.length === 0 ? 0 : ioThreadsPolicy === "auto" ? Math.min(sharing.length, Math.max(allowance, 1)) : 1;
  const byDisk = new Map<string, number>();
  for (const [index, { name }] of sharing.entries()) byDisk.set(name, (index % shared) + 1);
  for (const [index, { name }] of dedicated.entries()) byDisk.set(name, shared + index + 1);
  return { count: shared + dedicated.length, byDisk, pool: [] };
}

/** The thread of the SCSI controller, whose disks cannot choose their own. */
export function hasIoThreads(vmi: VirtualMachineInstance): boolean {
  return (planIoThreads(vmi.spec.domain)?.count ?? 0) > 0;
}

export const ioThreads: Configurator = {
  name: "io-threads",
  configure(domain, vmi) {
    const plan = planIoThreads(vmi.spec.domain);
    if (plan !== undefined && plan.count > 0) domain.iothreads = plan.count;
  },
};
