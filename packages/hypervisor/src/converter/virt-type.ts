import type { Configurator, NodeInformation } from "../contract.ts";
import { checkEmulation, isCrossArchitecture, isEmulated } from "./emulation.ts";
import { guestProfile } from "./profile.ts";

/** Accelerated by the hypervisor of the node, or emulated where that is allowed. */
export function virtType(node: NodeInformation): Configurator {
  return {
    name: "virt-type",
    configure(domain, vmi, context) {
      checkEmulation(node.hypervisorDevice, vmi, context);
      domain.type = isEmulated(vmi, context) ? "qemu" : node.virtType;
      // The default emulator is the host's; only another architecture needs to name one.
      if (isCrossArchitecture(vmi, context)) domain.devices.emulator = guestProfile(vmi, context).emulator;
    },
  };
}
