import { addCharacterBackend } from "./character-device.ts";
import type { Buses } from "./controller.ts";
import { deviceId } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Named channels between guest and host, such as the guest agent's. */
export function addChannels(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  for (const [index, channel] of domain.requireChild("devices").children("channels").entries()) {
    const id = deviceId(channel, `channel${index}`, plan);
    const target = channel.requireChild("target");
    target.oneOf("type", ["virtio"]);
    // What the guest did with it the last time.
    target.skip("state");
    const chardev = addCharacterBackend(channel, id, plan);
    channel.skip("address");
    // Port 0 is reserved for a console.
    plan.addDevice("virtserialport", {
      id,
      bus: buses.virtioSerial,
      nr: index + 1,
      chardev,
      name: target.requireText("name"),
    });
  }
}
