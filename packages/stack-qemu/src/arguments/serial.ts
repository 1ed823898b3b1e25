import { addCharacterBackend } from "./character-device.ts";
import { deviceId } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Serial ports. A console on a serial port is that port: the first one is the guest's console. */
export function addSerials(domain: DomainSection, plan: MachinePlan): void {
  const devices = domain.requireChild("devices");
  const serials = devices.children("serials");
  for (const [index, serial] of serials.entries()) {
    const id = deviceId(serial, `serial${index}`, plan);
    const chardev = addCharacterBackend(serial, id, plan);
    const target = serial.child("target");
    // The model only repeats what the type says.
    target?.skip("model");
    const type = target?.oneOf("type", ["isa-serial", "pci-serial", "system-serial", "sclp-serial"]);
    const port = Number(target?.text("port") ?? index);
    if (type === "pci-serial") plan.addDevice("pci-serial", { id, chardev });
    else if (plan.architecture.name === "x86_64") plan.addDevice("isa-serial", { id, chardev, index: port });
    else if (plan.architecture.name === "s390x") plan.addDevice("sclpconsole", { id, chardev });
    else plan.addOption("-serial", `chardev:${chardev}`);
  }
  for (const [index, console] of devices.children("consoles").entries()) {
    const target = console.child("target");
    const type = target?.oneOf("type", ["serial", "virtio", "sclp"]) ?? "serial";
    if (type === "virtio") throw console.refuse("target", "consoles on virtio are not supported; use a serial port");
    if (index > 0 || serials.length === 0)
      throw console.refuse("target", "the first serial port is the console; name it in devices.serials");
    target?.skip("port", "model");
    console.skip("type", "tty", "sources", "alias", "log", "protocol");
  }
}
