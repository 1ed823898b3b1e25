import type { AcpiIndex, Address, Alias, Boot, VirtioDriver } from "./definition-types.ts";
import type { DeviceProperties, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** What most devices of a definition have in common. */
interface CommonDevice {
  alias?: Alias | undefined;
  address?: Address | undefined;
  acpi?: AcpiIndex | undefined;
  boot?: Boot | undefined;
}

/** QEMU's rule for ids; anything else could be taken for something else by the monitor. */
const idPattern = /^[A-Za-z][A-Za-z0-9._-]{0,127}$/;

/** The device's id: its alias, or the given name. The id is how the monitor and events name the device. */
export function deviceId(device: Section<Pick<CommonDevice, "alias">>, fallback: string, plan: MachinePlan): string {
  const id = device.child("alias")?.text("name") ?? fallback;
  if (!idPattern.test(id)) throw device.refuse("alias", `${id.slice(0, 50)} is not a name that QEMU takes as an id`);
  if (!plan.claimId(id)) throw device.refuse("alias", `another device has the id ${id} already`);
  return id;
}

/** Where a device sits and in which order the firmware tries it. */
export function placement(device: Section<CommonDevice>, plan: MachinePlan): DeviceProperties {
  return {
    ...addressProperties(device, plan),
    ...bootOrder(device, plan),
    "acpi-index": device.child("acpi")?.number("index"),
  };
}

/** When the firmware tries a device. */
export function bootOrder(device: Section<Pick<CommonDevice, "boot">>, plan: MachinePlan): DeviceProperties {
  const boot = device.child("boot");
  const order = boot?.number("order") ?? plan.bootIndex(device.path);
  const loadparm = boot?.text("loadparm");
  if (loadparm !== undefined) {
    if (plan.architecture.name !== "s390x" || order !== 1 || !/^[A-Z0-9. ]{1,8}$/i.test(loadparm)) {
      throw device.refuse("boot", "loadparm is for the first device of s390x machines: up to 8 letters and digits");
    }
    plan.setMachine({ loadparm });
  }
  return { bootindex: order };
}

function addressProperties(device: Section<CommonDevice>, plan: MachinePlan): DeviceProperties {
  const address = device.child("address");
  if (address === undefined) return {};
  switch (address.oneOf("type", ["pci", "ccw", "unassigned"])) {
    case "pci": {
      const number = address.number("bus") ?? 0;
      if ((address.number("domain") ?? 0) !== 0) throw address.refuse("domain", "QEMU has only PCI domain 0");
      const slot = address.number("slot") ?? 0;
      const func = address.number("function") ?? 0;
      if (slot > 31 || func > 7) throw device.refuse("address", "a bus has slots 0 to 31, and a slot functions 0 to 7");
      // The machine itself is there; a definition that says so leaves the choice to others.
      if (number === 0 && slot === 0) return { multifunction: address.toggle("multifunction") };
      const main = plan.architecture.pciBus;
      if (main === undefined) throw device.refuse("address", `${plan.architecture.name} has no PCI bus`);
      const bus = number === 0 ? main : (plan.busName("pci", number) ?? impliedBus(address, number, slot, plan));
      return {
        bus,
        addr: `0x${slot.toString(16)}.0x${func.toString(16)}`,
        multifunction: address.toggle("multifunction"),
      };
    }
    case "ccw": {
      const css = (address.number("cssid") ?? 0xfe).toString(16);
      const ssid = (address.number("ssid") ?? 0).toString(16);
      const devno = (address.number("devno") ?? 0).toString(16).padStart(4, "0");
      return { devno: `${css}.${ssid}.${devno}` };
    }
    case "unassigned":
      throw device.refuse("address", "an unassigned device cannot be given to QEMU");
    case undefined:
      // <address/> of other buses (a drive's, a port's) is read by the device itself.
      return {};
  }
}

/** A bus that only an address speaks of: behind a port of its own, or behind a bridge on machines without ports. */
function impliedBus(address: Section<Address>, number: number, slot: number, plan: MachinePlan): string {
  const express = plan.architecture.pciBus === "pcie.0";
  if (number > 255) throw address.refuse("bus", "there are 256 buses at most");
  if (express && slot !== 0) {
    throw address.refuse(
      "slot",
      "a port has only slot 0; add a controller with more slots, such as pcie-to-pci-bridge",
    );
  }
  const id = `pci.${number}`;
  plan.claimId(id);
  plan.nameBus("pci", number, id);
  if (express) plan.addDevice("pcie-root-port", { id, chassis: number, port: number });
  else plan.addDevice("pci-bridge", { id, chassis_nr: number });
  return id;
}

/** Where a device sits on USB; QEMU chooses a port of the first controller for one that has no address. */
export function usbPlacement(
  device: Section<Pick<CommonDevice, "address">>,
  first: string | undefined,
  plan: MachinePlan,
): DeviceProperties {
  if (first === undefined) throw device.refuse("address", "the machine has no USB controller");
  const address = device.child("address");
  if (address === undefined) return { bus: first };
  address.oneOf("type", ["usb"]);
  const controller = plan.busName("usb", address.number("bus") ?? 0);
  if (controller === undefined) throw address.refuse("bus", "no controller of type usb has this index; add one");
  const port = address.text("port");
  if (port !== undefined && !/^[0-9]+(\.[0-9]+)*$/.test(port)) throw address.refuse("port", "this is not a USB port");
  return { bus: controller, port };
}

/** The name of a virtio device for this guest: bus and generation. */
export function virtioDriver(
  plan: MachinePlan,
  device: string,
  model: string | undefined = "virtio",
): { driver: string; known: boolean } {
  const bus = plan.architecture.virtioBus;
  const suffix = bus === "ccw" ? "" : virtioGenerations[model];
  return { driver: `virtio-${device}-${bus}${suffix ?? ""}`, known: model in virtioGenerations };
}

const virtioGenerations: Readonly<Record<string, string>> = {
  virtio: "",
  "virtio-scsi": "",
  "virtio-transitional": "-transitional",
  "virtio-non-transitional": "-non-transitional",
};

/** Options of any virtio device. */
export function virtioProperties(driver: Section<VirtioDriver> | undefined): DeviceProperties {
  if (driver === undefined) return {};
  return {
    iommu_platform: driver.toggle("iommu"),
    ats: driver.toggle("ats"),
    packed: driver.toggle("packed"),
    "page-per-vq": driver.toggle("pagePerVq"),
  };
}
