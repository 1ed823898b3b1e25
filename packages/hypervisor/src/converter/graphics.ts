import type { VirtualMachineInstance } from "@polyvirt/api";
import type { ArchitectureProfile } from "../arch/index.ts";
import type { Configurator } from "../contract.ts";
import type { ConverterContext } from "./context.ts";
import { guestProfile } from "./profile.ts";

/** A display, and VNC on a socket of the pod to see it. */
export const graphics: Configurator = {
  name: "graphics",
  configure(domain, vmi, context) {
    if (vmi.spec.domain.devices.autoattachGraphicsDevice === false) return;
    domain.devices.graphics = [{ type: "vnc", listens: [{ type: "socket", socket: context.paths.vnc }] }];
    domain.devices.videos = [{ model: videoModel(vmi, guestProfile(vmi, context), context) }];
  },
};

function videoModel(vmi: VirtualMachineInstance, { video }: ArchitectureProfile, context: ConverterContext) {
  const chosen = vmi.spec.domain.devices.video?.type;
  if (chosen !== undefined && chosen !== "") return { type: chosen, ...(chosen === "ramfb" ? {} : { heads: 1 }) };
  const efi = vmi.spec.domain.firmware?.bootloader?.efi !== undefined && context.settings.bochsDisplayForEfiGuests;
  const { type, vramKib } = efi ? video.efi : video.bios;
  return { type, heads: 1, ...(vramKib === undefined ? {} : { vram: vramKib }) };
}
