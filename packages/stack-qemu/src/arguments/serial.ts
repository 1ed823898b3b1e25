import type { Console, Serial } from "./definition-types.ts";
import { addCharacterBackend } from "./character-device.ts";
import type { Buses } from "./controller.ts";
import { deviceId, placement, usbPlacement } from "./device.ts";
import type { DeviceProperties, DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** Models that a type of port has; the first is QEMU's device for it, where it is one. */
const models = {
  "isa-serial": ["isa-serial"],
  "pci-serial": ["pci-serial"],
  "usb-serial": ["usb-serial"],
  "isa-debug": ["isa-debugcon"],
  "system-serial": ["pl011"],
  "sclp-serial": ["sclpconsole", "sclplmconsole"],
} as const;

type PortType = keyof typeof models;

const defaultTypes = { x86_64: "isa-serial", aarch64: "system-serial", s390x: "sclp-serial" } as const;
/** Types that only one architecture has. */
const homes: Readonly<Partial<Record<PortType, string>>> = {
  "isa-serial": "x86_64",
  "isa-debug": "x86_64",
  "system-serial": "aarch64",
  "sclp-serial": "s390x",
};

/**
 * Serial ports. The first console of a definition is its first serial port, told twice; where only the console is there,
 * the port is made from it.
 */
export function addSerials(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  const devices = domain.requireChild("devices");
  const serials = devices.children("serials");
  for (const [index, serial] of serials.entries()) addSerial(serial, index, buses, plan);
  for (const [index, console] of devices.children("consoles").entries()) {
    const target = console.child("target");
    const type = target?.oneOf("type", ["serial", "virtio", "sclp", "sclplm"]) ?? "serial";
    if (type === "virtio") continue;
    if (type !== "serial") addSclpConsole(console, type, index, plan);
    else if (serials.length === 0 && index === 0) addSerial(withoutTarget(console), 0, buses, plan);
    else if (index === 0) {
      target?.skip("port", "model");
      console.skip("type", "tty", "sources", "alias", "log", "protocol", "address");
    } else throw console.refuse("target", "only the first serial port is a console; use the type virtio for others");
  }
  for (const [index, parallel] of devices.children("parallels").entries()) {
    if (plan.architecture.name !== "x86_64") throw parallel.refuse("type", "only x86_64 machines have parallel ports");
    const id = deviceId(parallel, `parallel${index}`, plan);
    const chardev = addCharacterBackend(parallel, id, plan);
    plan.addDevice("isa-parallel", { id, chardev, index: parallel.child("target")?.number("port") ?? index });
  }
}

/** A console's type says only that it is a serial port; which one is the architecture's matter. */
function withoutTarget(console: Section<Console>): Section<Console> {
  console.child("target")?.skip("type", "port", "model");
  return console;
}

function addSclpConsole(console: Section<Console>, type: "sclp" | "sclplm", index: number, plan: MachinePlan): void {
  if (plan.architecture.name !== "s390x") throw console.refuse("target", `${type} consoles are only in s390x machines`);
  const id = deviceId(console, `console${index}`, plan);
  const chardev = addCharacterBackend(console, id, plan);
  console.child("target")?.skip("port");
  plan.addDevice(type === "sclp" ? "sclpconsole" : "sclplmconsole", { id, chardev });
}

function addSerial(serial: Section<Serial>, index: number, buses: Buses, plan: MachinePlan): void {
  const id = deviceId(serial, `serial${index}`, plan);
  const chardev = addCharacterBackend(serial, id, plan);
  const { name } = plan.architecture;
  const target = serial.child("target");
  const given = target?.text("type") === "serial" ? undefined : target?.oneOf("type", keysOf(models));
  const type: PortType = given ?? defaultTypes[name];
  const home = homes[type];
  if (home !== undefined && home !== name) throw serial.refuse("target", `${type} ports are only in ${home} machines`);
  const model = target?.child("model")?.oneOf("name", models[type]) ?? models[type][0];
  const port = target?.number("port") ?? index;
  switch (type) {
    case "isa-serial":
      return plan.addDevice(model, { id, chardev, index: port, ...isaPlace(serial) });
    case "isa-debug":
      return plan.addDevice(model, { id, chardev, ...isaPlace(serial) });
    case "pci-serial":
      return plan.addDevice(model, { id, chardev, ...placement(serial, plan) });
    case "usb-serial":
      return plan.addDevice(model, { id, chardev, ...usbPlacement(serial, buses.usb, plan) });
    case "sclp-serial":
      return plan.addDevice(model, { id, chardev });
    case "system-serial":
      if (index > 0) throw serial.refuse("target", "the machine has one port of its own; use pci-serial for others");
      return plan.addOption("-serial", `chardev:${chardev}`);
  }
}

/** Where a port sits that is not where every PC has it. */
function isaPlace(serial: Section<Serial>): DeviceProperties {
  const address = serial.child("address");
  address?.oneOf("type", ["isa"]);
  return { iobase: address?.number("iobase"), irq: address?.number("irq") };
}

/** The keys of a literal are its names. */
function keysOf<T extends object>(table: T): readonly (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
