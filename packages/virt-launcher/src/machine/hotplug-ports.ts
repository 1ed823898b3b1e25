import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Domain, DomainController } from "@polyvirt/domain";

/** Devices that may come on the PCI bus while the guest runs. */
const sparePorts = 4;
/** Machines whose main bus cannot be changed while they run; everything new needs a port of its own. */
const expressMachine = /^(pc-)?q35|^virt(-|$)/;

const manyDisks = 8;
/** As many as fit on the main bus beside the devices of an ordinary guest. */
const maxPorts = 20;

/**
 * The machine with room for devices that come later, unless the VMI rules that out. `taken` are ports that the machine's
 * own devices will take.
 */
export function withHotplugPorts(domain: Domain, { spec }: VirtualMachineInstance, taken: number): Domain {
  if (spec.domain.devices.disableHotplug === true || !expressMachine.test(domain.os?.type?.machine ?? ""))
    return domain;
  const { controllers = [], disks = [] } = domain.devices ?? {};
  // A guest with many disks needs the places on the main bus for them.
  if (disks.filter(({ target }) => target?.bus === "virtio").length > manyDisks) return domain;
  const buses = controllers.filter(({ type }) => type === "pci").map(({ index }) => Number(index ?? 0));
  const first = Math.max(0, ...buses) + 1;
  const ports = Array.from({ length: Math.min(sparePorts + taken, maxPorts) }, (_, port): DomainController => {
    return { type: "pci", index: first + port, model: "pcie-root-port" };
  });
  return { ...domain, devices: { ...domain.devices, controllers: [...controllers, ...ports] } };
}
