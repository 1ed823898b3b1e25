import type { Controller } from "./definition-types.ts";
import { deviceId, placement } from "./device.ts";
import type { MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** USB controllers by the definition's names for them. */
const drivers = {
  "qemu-xhci": "qemu-xhci",
  "nec-xhci": "nec-usb-xhci",
  "piix3-uhci": "piix3-usb-uhci",
  "piix4-uhci": "piix4-usb-uhci",
  "vt82c686b-uhci": "vt82c686b-usb-uhci",
  "pci-ohci": "pci-ohci",
  ehci: "usb-ehci",
  "ich9-ehci1": "ich9-usb-ehci1",
  "ich9-uhci1": "ich9-usb-uhci1",
  "ich9-uhci2": "ich9-usb-uhci2",
  "ich9-uhci3": "ich9-usb-uhci3",
} as const;

// The keys of a literal are its names.
const models = [...(Object.keys(drivers) as (keyof typeof drivers)[]), "none"] as const;

/** The model of a controller that names none, as libvirt chooses it. */
function defaultUsbModel(plan: MachinePlan): keyof typeof drivers {
  return plan.architecture.name === "x86_64" ? "piix3-uhci" : "qemu-xhci";
}

export function addUsbController(controller: Section<Controller>, index: number, plan: MachinePlan): void {
  const model = controller.oneOf("model", models) ?? defaultUsbModel(plan);
  if (model === "none") {
    // There is nothing to name or to place.
    controller.skip("alias", "address");
    return;
  }
  if (plan.architecture.pciBus === undefined) {
    throw controller.refuse("model", `${plan.architecture.name} machines have no USB; the model must be none`);
  }
  const master = controller.child("master")?.number("startport");
  if (master !== undefined) {
    // A companion serves slow devices on ports of the controller with the same index, and has no bus of its own.
    controller.skip("alias");
    const bus = { masterbus: plan.busName("usb", index), firstport: master };
    return plan.addDevice(drivers[model], { ...bus, ...placement(controller, plan) });
  }
  const ports = model === "qemu-xhci" || model === "nec-xhci" ? controller.number("ports") : undefined;
  const id = deviceId(controller, index === 0 ? "usb" : `usb${index}`, plan);
  plan.nameBus("usb", index, `${id}.0`);
  plan.addDevice(drivers[model], { id, p2: ports, p3: ports, ...placement(controller, plan) });
}
