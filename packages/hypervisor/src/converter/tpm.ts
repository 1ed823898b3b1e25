import type { Configurator } from "../contract.ts";
import { guestProfile } from "./profile.ts";

/** An emulated TPM 2.0. */
export const tpm: Configurator = {
  name: "tpm",
  configure(domain, vmi, context) {
    const device = vmi.spec.domain.devices.tpm;
    if (device === undefined || device.enabled === false) return;
    const { transient, persistent } = guestProfile(vmi, context).tpmModel;
    domain.devices.tpms = [
      device.persistent === true
        ? { model: persistent, backend: { type: "emulator", version: "2.0", persistentState: "yes" } }
        : { model: transient, backend: { type: "emulator", version: "2.0" } },
    ];
  },
};
