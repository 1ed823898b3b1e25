import type { Configurator } from "../contract.ts";

/** What the guest's own reboot does: start again, or end the VMI. */
export const rebootPolicy: Configurator = {
  name: "reboot-policy",
  configure(domain, vmi) {
    const policy = vmi.spec.domain.rebootPolicy;
    if (policy !== undefined && policy !== "") domain.onReboot = policy === "Terminate" ? "destroy" : "restart";
  },
};
