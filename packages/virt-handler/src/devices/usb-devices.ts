import type { USBHostDevice, USBSelector } from "@polyvirt/api";
import type { KernelTree } from "@polyvirt/host";
import { resourceVariable, type DeviceSource } from "./device-source.ts";

const FOLDER = "bus/usb/devices";

interface UsbDevice {
  readonly bus: number;
  readonly address: number;
  readonly vendor: number;
  readonly product: number;
}

/** Devices that are given away together, one for each selector. */
type UsbSet = readonly UsbDevice[];

export function usbSource(permitted: USBHostDevice, sys: KernelTree, dev: KernelTree): DeviceSource {
  const { resourceName, selectors = [] } = permitted;
  const find = (): UsbSet[] => groupDevices(findUsbDevices(sys), selectors);
  return {
    resourceName,
    list: () =>
      find().map((set) => ({ id: idOf(set), healthy: set.every((device) => dev.exists(nodeOf(device).slice(5))) })),
    grant(ids) {
      const sets = find().filter((set) => ids.includes(idOf(set)));
      const addresses = sets.flat().map(({ bus, address }) => `${bus}:${address}`);
      return {
        nodes: sets.flat().map(nodeOf),
        environment: { [resourceVariable("USB_RESOURCE", resourceName)]: addresses.join(",") },
      };
    },
  };
}

function findUsbDevices(sys: KernelTree): UsbDevice[] {
  return sys.list(FOLDER).flatMap((name) => {
    const number = (file: string, base: number): number =>
      Number.parseInt(sys.read(`${FOLDER}/${name}/${file}`) ?? "", base);
    const device = {
      bus: number("busnum", 10),
      address: number("devnum", 10),
      vendor: number("idVendor", 16),
      product: number("idProduct", 16),
    };
    // Interfaces are listed beside their devices and have no numbers of their own.
    return Object.values(device).some(Number.isNaN) ? [] : [device];
  });
}

/** As many whole sets as the devices give; what is left over belongs to none. */
function groupDevices(devices: readonly UsbDevice[], selectors: readonly USBSelector[]): UsbSet[] {
  if (selectors.length === 0) return [];
  const left = new Set(devices);
  const sets: UsbSet[] = [];
  for (;;) {
    const taken = selectors.map(({ vendor, product }) => {
      const found = [...left].find((device) => isModel(device, vendor, product));
      if (found !== undefined) left.delete(found);
      return found;
    });
    const set = taken.filter((device) => device !== undefined);
    if (set.length < selectors.length) return sets;
    sets.push(set);
  }
}

function isModel(device: UsbDevice, vendor: string, product: string): boolean {
  return device.vendor === Number.parseInt(vendor, 16) && device.product === Number.parseInt(product, 16);
}

function idOf(set: UsbSet): string {
  return set.map(({ bus, address }) => `${bus}-${address}`).join("_");
}

function nodeOf({ bus, address }: UsbDevice): string {
  const padded = (number: number): string => String(number).padStart(3, "0");
  return `/dev/bus/usb/${padded(bus)}/${padded(address)}`;
}
