import type { Channel } from "./definition-types.ts";
import { addCharacterBackend } from "./character-device.ts";
import { deviceId } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";
import { VirtioPorts } from "./virtio-port.ts";

/** Named channels between guest and host, such as the guest agent's, and consoles on the same bus. */
export function addChannels(domain: DomainSection, plan: MachinePlan): void {
  const devices = domain.requireChild("devices");
  const channels = devices.children("channels");
  const consoles = devices.children("consoles").filter((console) => console.child("target")?.text("type") === "virtio");
  const onBus = channels.filter((channel) => channel.child("target")?.text("type") !== "guestfwd");
  const ports = new VirtioPorts([...onBus, ...consoles], plan);
  for (const console of consoles) {
    const index = devices.children("consoles").indexOf(console);
    const id = deviceId(console, `console${index}`, plan);
    const chardev = addCharacterBackend(console, id, plan);
    // The number only orders consoles in the definition.
    console.child("target")?.skip("port");
    plan.addDevice("virtconsole", { id, ...ports.place(console, 0), chardev });
  }
  for (const [index, channel] of channels.entries()) addChannel(channel, index, ports, plan);
}

function addChannel(channel: Section<Channel>, index: number, ports: VirtioPorts, plan: MachinePlan): void {
  const id = deviceId(channel, `channel${index}`, plan);
  const target = channel.requireChild("target");
  if (target.oneOf("type", ["virtio", "guestfwd"]) === "guestfwd") {
    throw target.refuse("type", "forwarding an address of the guest is not supported; use a channel of type virtio");
  }
  // What the guest did with it the last time.
  target.skip("state");
  const chardev = addCharacterBackend(channel, id, plan);
  plan.addDevice("virtserialport", { id, ...ports.place(channel, 1), chardev, name: target.text("name") });
}
