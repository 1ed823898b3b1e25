import type { PciHostDevice } from "@polyvirt/api";
import type { KernelTree } from "@polyvirt/host";
import type { DeviceSource } from "./device-source.ts";
import { numaNodeOf, vfioSource, type VfioDevice } from "./vfio.ts";

const FOLDER = "bus/pci/devices";
/** Only a device that the host's own drivers have let go can be given away. */
const DRIVER = "vfio-pci";

export function pciSource(permitted: PciHostDevice, sys: KernelTree, dev: KernelTree): DeviceSource {
  const { resourceName, pciVendorSelector } = permitted;
  const wanted = pciVendorSelector.toLowerCase();
  return vfioSource({
    resourceName,
    variablePrefix: "PCI_RESOURCE",
    dev,
    find: () => findPciDevices(sys).flatMap(({ model, ...device }) => (model === wanted ? [device] : [])),
  });
}

function findPciDevices(sys: KernelTree): (VfioDevice & { readonly model: string })[] {
  return sys.list(FOLDER).flatMap((id) => {
    const folder = `${FOLDER}/${id}`;
    const group = sys.linkName(`${folder}/iommu_group`);
    if (group === undefined || sys.linkName(`${folder}/driver`) !== DRIVER) return [];
    const number = (file: string): string => (sys.read(`${folder}/${file}`) ?? "").replace(/^0x/, "").toLowerCase();
    return [{ id, group, numaNode: numaNodeOf(sys, folder), model: `${number("vendor")}:${number("device")}` }];
  });
}
