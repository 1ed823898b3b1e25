import type { Buses } from "./controller.ts";
import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Keyboards, mice and tablets. */
export function addInputs(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  for (const [index, input] of domain.requireChild("devices").children("inputs").entries()) {
    const type = input.oneOf("type", ["tablet", "mouse", "keyboard"]) ?? "tablet";
    const bus = input.oneOf("bus", ["usb", "virtio", "ps2"]) ?? "usb";
    // The machine has its PS/2 keyboard and mouse anyway.
    if (bus === "ps2") continue;
    const id = deviceId(input, `input${index}`, plan);
    if (bus === "usb") {
      if (buses.usb === undefined) throw input.refuse("bus", "the machine has no USB controller");
      plan.addDevice(type === "keyboard" ? "usb-kbd" : `usb-${type}`, { id, bus: buses.usb });
      continue;
    }
    const { driver } = virtioDriver(plan, type, input.text("model"));
    plan.addDevice(driver, { id, ...virtioProperties(input.child("driver")), ...placement(input, plan) });
  }
}
