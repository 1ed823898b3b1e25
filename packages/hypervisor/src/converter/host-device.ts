import type { DomainHostdev } from "@polyvirt/domain";
import type { Configurator } from "../contract.ts";
import type { HostDeviceLocation } from "./context.ts";
import { parsePciAddress, isPciAddress } from "./pci-address.ts";
import { userAlias } from "./profile.ts";
import { refuse } from "./refuse.ts";

/** Devices of the node that the pod was given: GPUs, generic devices and SR-IOV functions. */
export const hostDevice: Configurator = {
  name: "host-device",
  configure(domain, vmi, context) {
    const { gpus = [], hostDevices = [], interfaces = [] } = vmi.spec.domain.devices;
    const find = (list: string, name: string): HostDeviceLocation => {
      const location = context.hostDevices[name];
      if (location === undefined)
        throw refuse(`spec.domain.devices.${list} (${name})`, "the pod was given no such device");
      return location;
    };
    const hostdevs = [
      ...hostDevices.map(({ name }) => convert(`hostdevice-${name}`, find("hostDevices", name))),
      ...gpus.map(({ name, virtualGPUOptions }) => {
        const display = virtualGPUOptions?.display;
        return withDisplay(convert(`gpu-${name}`, find("gpus", name)), display?.enabled, display?.ramFB?.enabled);
      }),
      ...interfaces
        .filter(({ sriov, state }) => sriov !== undefined && state !== "absent")
        .map((iface) => ({
          ...convert(`sriov-${iface.name}`, find("interfaces", iface.name)),
          boot: iface.bootOrder ? { order: iface.bootOrder } : undefined,
          address: iface.pciAddress ? parsePciAddress(iface.pciAddress) : undefined,
        })),
    ];
    if (hostdevs.length > 0) domain.devices.hostdevs = hostdevs;
  },
};

function convert(alias: string, location: HostDeviceLocation): DomainHostdev {
  const base: DomainHostdev = { mode: "subsystem", managed: "no", alias: userAlias(alias) };
  switch (location.kind) {
    case "pci": {
      if (!isPciAddress(location.address)) throw refuse(alias, `${location.address} is not a PCI address`);
      const { domain, bus, slot, function: fn } = parsePciAddress(location.address) ?? {};
      // Said outright: libvirt would otherwise look for the driver on the machine that defines the guest.
      return {
        ...base,
        type: "pci",
        driver: { name: location.driver ?? "vfio" },
        source: { address: { domain, bus, slot, function: fn } },
      };
    }
    case "mdev":
      return { ...base, type: "mdev", model: "vfio-pci", source: { address: { uuid: location.uuid } } };
    case "usb":
      return { ...base, type: "usb", source: { address: { bus: location.bus, device: `${location.device}` } } };
  }
}

/** A mediated device shows a display unless the VMI switches it off; the frame buffer makes it visible during boot. */
function withDisplay(device: DomainHostdev, display: boolean | undefined, ramFb: boolean | undefined): DomainHostdev {
  if (device.type !== "mdev" || display === false) return device;
  return { ...device, display: "on", ramfb: ramFb === false ? undefined : "on" };
}
