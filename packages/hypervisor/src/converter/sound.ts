import type { Configurator } from "../contract.ts";
import { userAlias } from "./profile.ts";

export const sound: Configurator = {
  name: "sound",
  configure(domain, vmi) {
    const device = vmi.spec.domain.devices.sound;
    if (device === undefined) return;
    domain.devices.sounds = [{ model: device.model || "ich9", alias: userAlias(device.name) }];
  },
};
