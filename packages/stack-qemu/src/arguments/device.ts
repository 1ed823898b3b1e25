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
    bootindex: device.child("boot")?.number("order"),
    "acpi-index": device.child("acpi")?.number("index"),
  };
}

function addressProperties(device: Section<CommonDevice>, plan: MachinePlan): DeviceProperties {
  const address = device.child("address");
  if (address === undefined) return {};
  switch (address.oneOf("type", ["pci", "ccw", "unassigned"])) {
    case "pci": {
      const bus = number(address, "bus") ?? 0;
      if ((number(address, "domain") ?? 0) !== 0) throw address.refuse("domain", "QEMU has only PCI domain 0");
      const slot = (number(address, "slot") ?? 0).toString(16);
      const func = (number(address, "function") ?? 0).toString(16);
      const main = plan.architecture.pciBus;
      if (main === undefined) throw device.refuse("address", `${plan.architecture.name} has no PCI bus`);
      return {
        bus: bus === 0 ? main : `pci.${bus}`,
        addr: `0x${slot}.0x${func}`,
        multifunction: address.toggle("multifunction"),
      };
    }
    case "ccw": {
      const css = (number(address, "cssid") ?? 0xfe).toString(16);
      const ssid = Number(address.text("ssid") ?? 0).toString(16);
      const devno = (number(address, "devno") ?? 0).toString(16).padStart(4, "0");
      return { devno: `${css}.${ssid}.${devno}` };
    }
    case "unassigned":
      throw device.refuse("address", "an unassigned device cannot be given to QEMU");
    case undefined:
      // <address/> of other buses (a drive's, a port's) is read by the device itself.
      return {};
  }
}

/** Numbers of addresses may be written in hexadecimal. */
function number(
  address: Section<Address>,
  key: "domain" | "bus" | "slot" | "function" | "cssid" | "devno",
): number | undefined {
  const text = address.text(key);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw address.refuse(key, "it must be a number");
  return value;
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
