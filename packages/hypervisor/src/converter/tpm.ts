import type { Configurator } from "../contract.ts";

/** An emulated TPM 2.0. Only the CRB model keeps its state where it can be moved along with the guest. */
export const tpm: Configurator = {
  name: "tpm",
  configure(domain, vmi) {
    const device = vmi.spec.domain.devices.tpm;
    if (device === undefined || device.enabled === false) return;
    domain.devices.tpms = [
      device.persistent === true
        ? { model: "tpm-crb", backend: { type: "emulator", version: "2.0", persistentState: "yes" } }
        : { model: "tpm-tis", backend: { type: "emulator", version: "2.0" } },
    ];
  },
};
