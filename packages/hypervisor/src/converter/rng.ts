import type { Configurator } from "../contract.ts";
import { guestProfile, virtioModel } from "./profile.ts";

export const rng: Configurator = {
  name: "rng",
  configure(domain, vmi, context) {
    if (vmi.spec.domain.devices.rng === undefined) return;
    const model = virtioModel(vmi, guestProfile(vmi, context));
    domain.devices.rngs = [{ model, backend: { model: "random", value: "/dev/urandom" } }];
  },
};
