import { deviceId, placement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

const audioBackend = "audio0";

/** Sound cards. Nobody listens on the node, so what they play goes nowhere. */
export function addSounds(domain: DomainSection, plan: MachinePlan): void {
  const sounds = domain.requireChild("devices").children("sounds");
  if (sounds.length > 0) plan.addAudio({ id: audioBackend, driver: "none" });
  for (const [index, sound] of sounds.entries()) {
    const model = sound.oneOf("model", ["ich9", "ich6", "ac97"]) ?? "ich9";
    const id = deviceId(sound, `sound${index}`, plan);
    if (model === "ac97") {
      plan.addDevice("AC97", { id, audiodev: audioBackend, ...placement(sound, plan) });
      continue;
    }
    plan.addDevice(model === "ich9" ? "ich9-intel-hda" : "intel-hda", { id, ...placement(sound, plan) });
    plan.addDevice("hda-duplex", { id: `${id}-codec0`, bus: `${id}.0`, cad: 0, audiodev: audioBackend });
  }
}
