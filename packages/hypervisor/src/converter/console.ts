import type { Configurator } from "../contract.ts";
import { guestProfile } from "./profile.ts";

/** The serial console, on a socket of the pod and in a log beside it. */
export const serialConsole: Configurator = {
  name: "console",
  configure(domain, vmi, context) {
    const { autoattachSerialConsole, logSerialConsole } = vmi.spec.domain.devices;
    if (autoattachSerialConsole === false) return;
    const { serial } = guestProfile(vmi, context);
    const log = logSerialConsole ?? context.settings.serialConsoleLog;
    domain.devices.serials = [
      {
        type: "unix",
        sources: [{ mode: "bind", path: context.paths.serialConsole }],
        target: { type: serial.type, port: "0", model: { name: serial.model } },
        ...(log ? { log: { file: context.paths.serialConsoleLog, append: "on" } } : {}),
      },
    ];
    domain.devices.consoles = [{ type: "pty", target: { type: "serial", port: "0" } }];
  },
};
