import type { Configurator } from "../contract.ts";
import { guestProfile, userAlias } from "./profile.ts";
import { refuse } from "./refuse.ts";

export const watchdog: Configurator = {
  name: "watchdog",
  configure(domain, vmi, context) {
    const device = vmi.spec.domain.devices.watchdog;
    if (device === undefined) return;
    const { name, watchdog: model } = guestProfile(vmi, context);
    if (model === undefined || device[model] === undefined) {
      throw refuse("spec.domain.devices.watchdog", `${name} guests have ${model ?? "no watchdog"}`);
    }
    domain.devices.watchdogs = [{ model, action: device[model].action || "reset", alias: userAlias(device.name) }];
  },
};
