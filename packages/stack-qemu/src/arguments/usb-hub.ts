import type { Buses } from "./controller.ts";
import { deviceId, usbPlacement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** USB hubs, before what is plugged into them, and a hub before the hubs on it: `1` before `1.2`; last those who take what is free. */
export function addUsbHubs(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  const hubs = domain.requireChild("devices").children("hubs");
  const depth = (hub: (typeof hubs)[number]): number =>
    hub.child("address")?.text("port")?.split(".").length ?? Infinity;
  for (const [index, hub] of [...hubs.entries()].toSorted(([, a], [, b]) => depth(a) - depth(b))) {
    hub.oneOf("type", ["usb"]);
    plan.addDevice("usb-hub", { id: deviceId(hub, `hub${index}`, plan), ...usbPlacement(hub, buses.usb, plan) });
  }
}
