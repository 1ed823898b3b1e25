import type { MediatedHostDevice } from "@polyvirt/api";
import type { KernelTree } from "@polyvirt/host";
import type { DeviceSource } from "./device-source.ts";
import { numaNodeOf, vfioSource, type VfioDevice } from "./vfio.ts";

const FOLDER = "bus/mdev/devices";

export function mediatedSource(permitted: MediatedHostDevice, sys: KernelTree, dev: KernelTree): DeviceSource {
  const { resourceName, mdevNameSelector } = permitted;
  const wanted = plainName(mdevNameSelector);
  return vfioSource({
    resourceName,
    variablePrefix: "MDEV_PCI_RESOURCE",
    dev,
    find: () => findMediatedDevices(sys).flatMap(({ names, ...device }) => (names.includes(wanted) ? [device] : [])),
  });
}

function findMediatedDevices(sys: KernelTree): (VfioDevice & { readonly names: readonly string[] })[] {
  return sys.list(FOLDER).flatMap((id) => {
    const folder = `${FOLDER}/${id}`;
    const group = sys.linkName(`${folder}/iommu_group`);
    if (group === undefined) return [];
    const type = sys.linkName(`${folder}/mdev_type`);
    // A type has a name for people and one for programs; either may have been written down.
    const names = [sys.read(`${folder}/mdev_type/name`), type].flatMap((name) =>
      name === undefined ? [] : [plainName(name)],
    );
    return [{ id, group, names, numaNode: numaNodeOf(sys, `${folder}/..`) }];
  });
}

/** `GRID T4-1Q` and `GRID_T4-1Q` are the same. */
function plainName(name: string): string {
  return name.trim().replaceAll(/\s+/g, "_");
}
