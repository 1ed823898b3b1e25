import type { Controller, Disk } from "./definition-types.ts";
import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import { driveAddress, diskBus } from "./drive-address.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import { addPciController, namePciBus } from "./pci-controller.ts";
import { addImpliedScsiController, addScsiController } from "./scsi-controller.ts";
import { Section } from "./section.ts";
import { addUsbController } from "./usb-controller.ts";

type ControllerSection = Section<Controller>;
type DevicesSection = ReturnType<typeof devicesOf>;

/** What other devices need to know about the buses that controllers make. */
export interface Buses {
  readonly usb: string | undefined;
}

interface Numbered {
  readonly controller: ControllerSection;
  readonly type: (typeof types)[number];
  readonly index: number;
}

const types = ["pci", "usb", "scsi", "virtio-serial", "sata", "ide", "fdc"] as const;

/** Controllers come before the devices on them. Those that a device needs and nobody named are added. */
export function addControllers(domain: DomainSection, plan: MachinePlan): Buses {
  const devices = devicesOf(domain);
  const controllers = numbered(devices.children("controllers"));
  for (const { type, controller, index } of controllers) if (type === "pci") namePciBus(controller, index, plan);
  for (const { type, controller, index } of controllers) addController(type, controller, index, plan);
  addImplied(devices, controllers, plan);
  // Nothing but what the definition says: no USB by the machine's own default.
  if (plan.architecture.name === "x86_64") plan.setMachine({ usb: false });
  const first = controllers.find(({ type, index }) => type === "usb" && plan.busName("usb", index) !== undefined);
  return { usb: plan.busName("usb", first?.index ?? 0) };
}

function devicesOf(domain: DomainSection) {
  return domain.requireChild("devices");
}

/** Controllers with their numbers, PCI buses first and in the order of theirs, because each needs the one below. */
function numbered(controllers: readonly ControllerSection[]): Numbered[] {
  const next = new Map<string, number>();
  const all = controllers.map((controller): Numbered => {
    const type = controller.oneOf("type", types);
    if (type === undefined) throw controller.refuse("type", "it must be given");
    const free = next.get(type) ?? 0;
    // A companion without a number belongs to the USB controller before it.
    const index = controller.number("index") ?? (controller.has("master") ? Math.max(0, free - 1) : free);
    next.set(type, Math.max(free, index + 1));
    return { controller, type, index };
  });
  const rank = (entry: Numbered): number => types.indexOf(entry.type);
  return all.toSorted(
    (a, b) => rank(a) - rank(b) || companionsLast(a, b) || (a.type === "pci" ? a.index - b.index : 0),
  );
}

function companionsLast(a: Numbered, b: Numbered): number {
  return Number(a.controller.has("master")) - Number(b.controller.has("master"));
}

function addController(type: Numbered["type"], controller: ControllerSection, index: number, plan: MachinePlan): void {
  switch (type) {
    case "pci":
      return addPciController(controller, index, plan);
    case "usb":
      return addUsbController(controller, index, plan);
    case "scsi":
      return addScsiController(controller, index, plan);
    case "virtio-serial":
      return addVirtioSerial(controller, index, plan);
    case "sata":
      return addSata(controller, index, plan);
    case "ide":
      return addIde(controller, index, plan);
    case "fdc":
      return addFloppyController(controller, index, plan);
  }
}

function addVirtioSerial(controller: ControllerSection, index: number, plan: MachinePlan): void {
  const { driver, known } = virtioDriver(plan, "serial", controller.text("model"));
  if (!known) throw controller.refuse("model", "this model of a virtio-serial controller is not known");
  const id = deviceId(controller, `virtio-serial${index}`, plan);
  plan.nameBus("virtio-serial", index, `${id}.0`);
  const ports = controller.number("ports");
  if (ports !== undefined) plan.nameBus("virtio-serial ports", index, String(ports));
  plan.addDevice(driver, {
    id,
    max_ports: ports,
    vectors: controller.number("vectors"),
    ...virtioProperties(controller.child("driver")),
    ...placement(controller, plan),
  });
}

/** q35 has the first one built in, with six ports. */
function addSata(controller: ControllerSection, index: number, plan: MachinePlan): void {
  if (plan.architecture.pciBus === undefined) throw controller.refuse("type", "s390x machines have no SATA");
  if (index === 0 && isQ35(plan)) {
    plan.nameBus("sata", 0, "ide");
    checkBuiltIn(controller, { slot: 0x1f, function: 2 });
    return controller.skip("model", "alias");
  }
  const id = deviceId(controller, `sata${index}`, plan);
  plan.nameBus("sata", index, id);
  plan.addDevice("ahci", { id, ...placement(controller, plan) });
}

/** A part of the machine is where it is; libvirt writes that down. */
function checkBuiltIn(
  controller: ControllerSection,
  place: { readonly slot: number; readonly function: number },
): void {
  const address = controller.child("address");
  if (address === undefined) return;
  address.oneOf("type", ["pci"]);
  const [domain, bus, slot, part] = (["domain", "bus", "slot", "function"] as const).map(
    (key) => address.number(key) ?? 0,
  );
  if (domain === 0 && bus === 0 && slot === place.slot && part === place.function) return;
  throw controller.refuse(
    "address",
    `this controller is a part of the machine, at slot ${place.slot}.${place.function}`,
  );
}

/** Only the older PC has one, and it has it built in. */
function addIde(controller: ControllerSection, index: number, plan: MachinePlan): void {
  if (plan.architecture.pciBus !== "pci.0" || index > 0) {
    throw controller.refuse("type", "only machines of the type pc have IDE, one controller; use sata, scsi or virtio");
  }
  controller.oneOf("model", ["piix3", "piix4"]);
  plan.nameBus("ide", 0, "ide");
  checkBuiltIn(controller, { slot: 1, function: 1 });
  controller.skip("alias");
}

function addFloppyController(controller: ControllerSection, index: number, plan: MachinePlan): void {
  if (plan.architecture.name !== "x86_64" || index > 0) {
    throw controller.refuse("type", "only x86_64 machines have a floppy controller, and one only");
  }
  // It has the ports that every PC has, and floppies find it without a name.
  controller.skip("address", "alias");
  nameFloppyBus(plan);
}

/** The older PC has a floppy controller; q35 gets one when it is asked for. */
function nameFloppyBus(plan: MachinePlan): void {
  if (plan.busName("fdc", 0) !== undefined) return;
  plan.nameBus("fdc", 0, "fdc0");
  if (isQ35(plan)) plan.addDevice("isa-fdc", { id: "fdc0" });
}

function isQ35(plan: MachinePlan): boolean {
  return plan.architecture.name === "x86_64" && plan.architecture.pciBus === "pcie.0";
}

/** What the definition's devices sit on without saying so. */
function addImplied(devices: DevicesSection, controllers: readonly Numbered[], plan: MachinePlan): void {
  const noUsb = controllers.some(({ type }) => type === "usb");
  if (!noUsb && plan.architecture.pciBus !== undefined && usesUsb(devices)) addImpliedUsb(plan);
  for (const disk of devices.children("disks")) addImpliedFor(disk, plan);
  const ports =
    devices.children("channels").some((channel) => channel.child("target")?.text("type") !== "guestfwd") ||
    devices.children("consoles").some((console) => console.child("target")?.text("type") === "virtio");
  if (ports && plan.busName("virtio-serial", 0) === undefined) {
    const id = "virtio-serial0";
    plan.claimId(id);
    plan.nameBus("virtio-serial", 0, `${id}.0`);
    plan.addDevice(virtioDriver(plan, "serial").driver, { id });
  }
}

function addImpliedFor(disk: Section<Disk>, plan: MachinePlan): void {
  const bus = diskBus(disk);
  if (bus === "fdc" && plan.architecture.name === "x86_64") nameFloppyBus(plan);
  if (bus === "ide" && plan.architecture.pciBus === "pci.0") plan.nameBus("ide", 0, "ide");
  if (bus !== "scsi" && bus !== "sata") return;
  const { controller } = driveAddress(disk, bus);
  if (plan.busName(bus, controller) !== undefined) return;
  if (bus === "scsi") return addImpliedScsiController(controller, plan);
  if (plan.architecture.pciBus === undefined) throw disk.refuse("target", "s390x machines have no SATA");
  const id = `sata${controller}`;
  plan.nameBus("sata", controller, controller === 0 && isQ35(plan) ? "ide" : id);
  if (plan.busName("sata", controller) === id) plan.addDevice("ahci", { id });
}

function addImpliedUsb(plan: MachinePlan): void {
  const implied: Controller = { type: "usb", index: 0 };
  addUsbController(new Section(implied), 0, plan);
}

function usesUsb(devices: DevicesSection): boolean {
  return (
    devices
      .children("inputs")
      .some((input) => (input.text("bus") ?? (input.text("type") === "tablet" && "usb")) === "usb") ||
    devices.children("serials").some((serial) => serial.child("target")?.text("type") === "usb-serial") ||
    devices.children("disks").some((disk) => diskBus(disk) === "usb") ||
    devices.children("hostdevs").some((hostdev) => hostdev.text("type") === "usb") ||
    devices.children("hubs").length > 0 ||
    devices.children("redirdevs").length > 0
  );
}
