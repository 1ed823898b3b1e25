import type { Configurator } from "../contract.ts";

/** How many devices of the client's computer a guest can take at once. */
const redirectionSlots = 4;

export const usbRedirection: Configurator = {
  name: "usb-redirection",
  configure(domain, vmi, context) {
    if (vmi.spec.domain.devices.clientPassthrough === undefined) return;
    domain.devices.redirdevs = Array.from({ length: redirectionSlots }, (_, index) => ({
      type: "unix",
      bus: "usb",
      sources: [{ mode: "bind", path: `${context.paths.usbRedirection}${index}` }],
    }));
  },
};
