import { addAudios } from "./audio.ts";
import type { Buses } from "./controller.ts";
import type { Sound } from "./definition-types.ts";
import { deviceId, placement, usbPlacement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** Cards with links for codecs, by QEMU's names. */
const linked: Readonly<Record<string, string>> = { ich9: "ich9-intel-hda", ich6: "intel-hda" };
const models = ["ich9", "ich6", "ac97", "es1370", "sb16", "usb", "pcspk"] as const;

/** Sound cards. */
export function addSounds(domain: DomainSection, buses: Buses, plan: MachinePlan): void {
  const sounds = domain.requireChild("devices").children("sounds");
  const nameOf = addAudios(domain, sounds.length > 0, plan);
  for (const [index, sound] of sounds.entries()) {
    const model = sound.oneOf("model", models) ?? "ich9";
    const audiodev = nameOf(sound.child("audio")?.number("id"));
    if (model === "pcspk") {
      if (plan.architecture.name !== "x86_64") throw sound.refuse("model", "only x86_64 machines have a speaker");
      // It is part of the machine.
      sound.skip("alias");
      plan.setMachine({ "pcspk-audiodev": audiodev });
      continue;
    }
    addCard(sound, model, index, audiodev, buses, plan);
  }
}

function addCard(
  sound: Section<Sound>,
  model: string,
  index: number,
  audiodev: string,
  buses: Buses,
  plan: MachinePlan,
): void {
  const id = deviceId(sound, `sound${index}`, plan);
  switch (model) {
    case "ac97":
      return plan.addDevice("AC97", { id, audiodev, ...placement(sound, plan) });
    case "es1370":
      return plan.addDevice("ES1370", { id, audiodev, ...placement(sound, plan) });
    case "sb16":
      return plan.addDevice("sb16", { id, audiodev });
    case "usb":
      return plan.addDevice("usb-audio", {
        id,
        audiodev,
        multi: sound.toggle("multichannel"),
        ...usbPlacement(sound, buses.usb, plan),
      });
    default:
      plan.addDevice(linked[model] ?? "intel-hda", { id, ...placement(sound, plan) });
  }
  const given = sound.children("codecs").map((codec) => codec.oneOf("type", ["duplex", "micro", "output"]) ?? "duplex");
  for (const [number, codec] of (given.length === 0 ? ["duplex"] : given).entries()) {
    plan.addDevice(`hda-${codec}`, { id: `${id}-codec${number}`, bus: `${id}.0`, cad: number, audiodev });
  }
}
