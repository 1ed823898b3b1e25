import type { Configurator } from "../contract.ts";

export const panicDevice: Configurator = {
  name: "panic-device",
  configure(domain, vmi) {
    const panics = (vmi.spec.domain.devices.panicDevices ?? []).map(({ model }) => (model ? { model } : {}));
    if (panics.length > 0) domain.devices.panics = panics;
  },
};
