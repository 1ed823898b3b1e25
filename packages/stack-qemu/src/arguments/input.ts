import type { Buses } from "./controller.ts";
import { deviceId, placement, usbPlacement, virtioDriver, virtioProperties } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Keyboards, mice and tablets. */
export function addInputs(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  for (const [index, input] of domain.requireChild("devices").children("inputs").entries()) {
    const type = input.oneOf("type", ["tablet", "mouse", "keyboard", "passthrough"]) ?? "tablet";
    const bus = input.oneOf("bus", ["usb", "virtio", "ps2"]) ?? defaultBus(type, plan);
    if (bus === "ps2") {
      if (plan.architecture.name !== "x86_64" || type === "tablet" || type === "passthrough") {
        throw input.refuse("bus", "only x86_64 machines have PS/2, with a keyboard and a mouse");
      }
      // The machine has them anyway, and they have no name.
      input.skip("alias");
      continue;
    }
    const id = deviceId(input, `input${index}`, plan);
    if (bus === "usb") {
      if (buses.usb === undefined) throw input.refuse("bus", "the machine has no USB controller");
      if (type === "passthrough") throw input.refuse("bus", "a device of the node is passed on by virtio");
      plan.addDevice(type === "keyboard" ? "usb-kbd" : `usb-${type}`, { id, ...usbPlacement(input, buses.usb, plan) });
      continue;
    }
    // There is only the generation without legacy, under the plain name.
    input.oneOf("model", ["virtio"]);
    const { driver } = virtioDriver(plan, type === "passthrough" ? "input-host" : type);
    const evdev = type === "passthrough" ? input.requireChild("source").requireText("evdev") : undefined;
    if (evdev !== undefined) plan.requireFile(evdev, `${input.path}: the pod was given no ${evdev}`);
    plan.addDevice(driver, { id, evdev, ...virtioProperties(input.child("driver")), ...placement(input, plan) });
  }
}

/** What libvirt puts in where the definition says nothing. */
function defaultBus(type: string, plan: MachinePlan): "usb" | "ps2" | "virtio" {
  if (type === "passthrough" || plan.architecture.name === "s390x") return "virtio";
  return plan.architecture.name === "x86_64" && type !== "tablet" ? "ps2" : "usb";
}
