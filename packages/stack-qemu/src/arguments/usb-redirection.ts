import { addCharacterBackend } from "./character-device.ts";
import type { Buses } from "./controller.ts";
import { bootOrder, deviceId, usbPlacement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** USB ports whose devices are with whoever connects to a socket. */
export function addUsbRedirection(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  for (const [index, port] of domain.requireChild("devices").children("redirdevs").entries()) {
    port.oneOf("bus", ["usb"]);
    if (buses.usb === undefined) throw port.refuse("bus", "the machine has no USB controller");
    const id = deviceId(port, `redir${index}`, plan);
    plan.addDevice("usb-redir", {
      chardev: addCharacterBackend(port, id, plan),
      id,
      ...usbPlacement(port, buses.usb, plan),
      ...bootOrder(port, plan),
    });
  }
}
