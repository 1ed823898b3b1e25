import type { Configurator } from "../contract.ts";
import { bytesOf } from "../quantity.ts";
import { guestProfile } from "./profile.ts";
import { refuse } from "./refuse.ts";

/** Guest memory in whole kibibytes, which is what the hypervisors count in. */
const granularity = 1024;

export const memory: Configurator = {
  name: "memory",
  configure(domain, vmi, context) {
    const { memory: given, resources } = vmi.spec.domain;
    const asked = given?.guest ?? resources?.requests?.["memory"] ?? resources?.limits?.["memory"];
    const value = Math.ceil(bytesOf(asked) / granularity) * granularity;
    if (value === 0) throw refuse("spec.domain.memory.guest", "the guest has no memory");
    domain.memory = { value, unit: "b" };
    const maximum = bytesOf(given?.maxGuest);
    if (maximum <= value || !guestProfile(vmi, context).memoryHotplug) return;
    domain.maxMemory = { value: maximum, unit: "b", slots: 1 };
    domain.currentMemory = { value, unit: "b" };
  },
};
