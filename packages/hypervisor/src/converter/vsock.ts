import type { Configurator } from "../contract.ts";
import { guestProfile, virtioModel } from "./profile.ts";
import { refuse } from "./refuse.ts";

export const vsock: Configurator = {
  name: "vsock",
  configure(domain, vmi, context) {
    if (vmi.spec.domain.devices.autoattachVSOCK !== true) return;
    const address = vmi.status?.VSOCKCID;
    if (address === undefined) {
      throw refuse("spec.domain.devices.autoattachVSOCK", "status.VSOCKCID is not assigned yet");
    }
    domain.devices.vsock = { model: virtioModel(vmi, guestProfile(vmi, context)), cid: { auto: "no", address } };
  },
};
