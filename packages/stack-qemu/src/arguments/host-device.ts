import type { Hostdev, HostdevAddress } from "./definition-types.ts";
import type { Buses } from "./controller.ts";
import { bootOrder, deviceId, placement, usbPlacement } from "./device.ts";
import type { DeviceProperties, DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** Devices of the node that the guest drives itself. The pod must have been given them. */
export function addHostDevices(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  for (const [index, hostdev] of domain.requireChild("devices").children("hostdevs").entries()) {
    hostdev.oneOf("mode", ["subsystem"]);
    if (hostdev.toggle("managed") ?? false) {
      throw hostdev.refuse("managed", "the node agent prepares devices; the qemu stack does not");
    }
    const id = deviceId(hostdev, `hostdev${index}`, plan);
    const address = hostdev.requireChild("source").requireChild("address");
    switch (hostdev.oneOf("type", ["pci", "mdev", "usb"])) {
      case "pci":
        addPciDevice(hostdev, address, id, plan);
        break;
      case "mdev":
        addMediatedDevice(hostdev, address, id, plan);
        break;
      case "usb":
        addUsbDevice(hostdev, address, id, buses, plan);
        break;
      case undefined:
        throw hostdev.refuse("type", "it must be given");
    }
  }
}

type HostdevSection = Section<Hostdev>;
type AddressSection = Section<HostdevAddress>;

function addPciDevice(hostdev: HostdevSection, address: AddressSection, id: string, plan: MachinePlan): void {
  hostdev.child("driver")?.oneOf("name", ["vfio"]);
  const [domain, bus, slot, fn] = [
    hexadecimal(address, "domain", 4),
    hexadecimal(address, "bus", 2),
    hexadecimal(address, "slot", 2),
    hexadecimal(address, "function", 1),
  ];
  const host = `${domain}:${bus}:${slot}.${fn}`;
  plan.requireFile("/dev/vfio/vfio", `${hostdev.path}: the pod was given no VFIO device`);
  plan.requireFile(`/sys/bus/pci/devices/${host}`, `${hostdev.path}: the node has no PCI device ${host}`);
  plan.addDevice(vfioDriver(plan), { host, id, ...rom(hostdev), ...placement(hostdev, plan) });
}

function addMediatedDevice(hostdev: HostdevSection, address: AddressSection, id: string, plan: MachinePlan): void {
  hostdev.oneOf("model", ["vfio-pci", "vfio-ccw", "vfio-ap"]);
  const uuid = address.requireText("uuid");
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid)) throw address.refuse("uuid", "it must be a UUID");
  const sysfsdev = `/sys/bus/mdev/devices/${uuid}`;
  plan.requireFile(sysfsdev, `${hostdev.path}: the node has no mediated device ${uuid}`);
  const ramfb = hostdev.toggle("ramfb");
  plan.addDevice(ramfb === true ? "vfio-pci-nohotplug" : (hostdev.text("model") ?? vfioDriver(plan)), {
    id,
    sysfsdev,
    display: hostdev.oneOf("display", ["on", "off"]),
    ramfb,
    ...placement(hostdev, plan),
  });
}

function addUsbDevice(
  hostdev: HostdevSection,
  address: AddressSection,
  id: string,
  buses: Buses,
  plan: MachinePlan,
): void {
  if (buses.usb === undefined) throw hostdev.refuse("type", "the machine has no USB controller");
  const [hostbus, hostaddr] = [Number(address.requireText("bus")), Number(address.requireText("device"))];
  if (!Number.isSafeInteger(hostbus) || !Number.isSafeInteger(hostaddr)) {
    throw hostdev.refuse("source", "its bus and device must be numbers");
  }
  const node = `/dev/bus/usb/${String(hostbus).padStart(3, "0")}/${String(hostaddr).padStart(3, "0")}`;
  plan.requireFile(node, `${hostdev.path}: the pod was given no USB device ${hostbus}.${hostaddr}`);
  plan.addDevice("usb-host", {
    hostdevice: node,
    id,
    ...usbPlacement(hostdev, buses.usb, plan),
    ...bootOrder(hostdev, plan),
  });
}

function vfioDriver(plan: MachinePlan): string {
  return plan.architecture.virtioBus === "ccw" ? "vfio-ccw" : "vfio-pci";
}

function rom(hostdev: HostdevSection): DeviceProperties {
  const given = hostdev.child("rom");
  return { rombar: given?.toggle("bar"), romfile: given?.text("file") };
}

function hexadecimal(address: AddressSection, key: "domain" | "bus" | "slot" | "function", digits: number): string {
  const value = Number(address.text(key) ?? 0);
  if (!Number.isSafeInteger(value) || value < 0) throw address.refuse(key, "it must be a number");
  return value.toString(16).padStart(digits, "0");
}
