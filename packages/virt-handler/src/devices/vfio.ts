import type { KernelTree } from "@polyvirt/host";
import { resourceVariable, type DeviceGrant, type DeviceSource } from "./device-source.ts";

/** A device that a guest drives itself through VFIO, with the group by which the IOMMU tells it from others. */
export interface VfioDevice {
  /** PCI address, or UUID of a mediated device. */
  readonly id: string;
  readonly group: string;
  readonly numaNode: number | undefined;
}

const CONTAINER = "/dev/vfio/vfio";
const groupPath = (group: string): string => `/dev/vfio/${group}`;

interface VfioSource {
  readonly resourceName: string;
  readonly variablePrefix: string;
  readonly find: () => readonly VfioDevice[];
  /** The node's /dev. */
  readonly dev: KernelTree;
}

export function vfioSource({ resourceName, variablePrefix, find, dev }: VfioSource): DeviceSource {
  return {
    resourceName,
    list: () =>
      find().map(({ id, group, numaNode }) => ({
        id,
        healthy: dev.exists(`vfio/${group}`),
        ...(numaNode === undefined ? {} : { numaNode }),
      })),
    grant(ids): DeviceGrant {
      const groups = find().flatMap(({ id, group }) => (ids.includes(id) ? [group] : []));
      return {
        nodes: [CONTAINER, ...new Set(groups.map(groupPath))],
        environment: { [resourceVariable(variablePrefix, resourceName)]: ids.join(",") },
      };
    },
  };
}

/** The kernel says -1 where memory is the same distance from everywhere. */
export function numaNodeOf(sys: KernelTree, folder: string): number | undefined {
  const node = Number(sys.read(`${folder}/numa_node`) ?? -1);
  return Number.isSafeInteger(node) && node >= 0 ? node : undefined;
}
