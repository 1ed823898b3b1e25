import type { Configurator } from "../contract.ts";
import { refuse } from "./refuse.ts";

/** Folders shared with the guest by virtiofs; the daemon's socket is ready before the guest starts. */
export const filesystem: Configurator = {
  name: "filesystem",
  configure(domain, vmi, context) {
    const filesystems = (vmi.spec.domain.devices.filesystems ?? []).map(({ name }) => {
      const socket = context.virtiofsSockets[name];
      if (socket === undefined)
        throw refuse(`spec.domain.devices.filesystems (${name})`, "no virtiofs daemon serves it");
      return {
        type: "mount" as const,
        accessmode: "passthrough" as const,
        driver: { type: "virtiofs" as const, queue: 1024 },
        source: { socket },
        target: { dir: name },
      };
    });
    if (filesystems.length > 0) domain.devices.filesystems = filesystems;
  },
};
