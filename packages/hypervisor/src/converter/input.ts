import type { DomainInput } from "@polyvirt/domain";
import type { Configurator } from "../contract.ts";
import { guestProfile, userAlias } from "./profile.ts";

/** The VMI's input devices, and those that this architecture needs to use a graphical console at all. */
export const input: Configurator = {
  name: "input",
  configure(domain, vmi, context) {
    const { devices } = vmi.spec.domain;
    const profile = guestProfile(vmi, context);
    const inputs: DomainInput[] = (devices.inputs ?? []).map((device) => ({
      type: device.type,
      bus: device.bus ?? "usb",
      alias: userAlias(device.name),
      model: device.bus === "virtio" && profile.pci ? "virtio" : undefined,
    }));
    if (devices.autoattachGraphicsDevice !== false) {
      inputs.push(...profile.graphicsInputs.filter(({ type }) => !inputs.some((present) => present.type === type)));
    }
    if (inputs.length > 0) domain.devices.inputs = inputs;
  },
};
