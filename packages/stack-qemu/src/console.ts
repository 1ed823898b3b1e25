import { errors, type Console } from "@polyvirt/stack";
import type { QemuLifecycle } from "./lifecycle/qemu-lifecycle.ts";

/** Serial ports are unix sockets that QEMU itself serves; what the guest writes goes to the log whether or not one reads. */
export function qemuConsole(lifecycle: QemuLifecycle): Console {
  const serial = (port: number) => {
    const found = lifecycle.running("open the console of").definition.devices?.serials?.[port];
    if (found === undefined) throw errors.StackDomainNotFound(`open serial port ${port}: the machine has no such port`);
    return found;
  };
  return {
    serialSocket(port) {
      const { type, sources } = serial(port);
      const path = sources?.[0]?.path;
      if (type !== "unix" || path === undefined) {
        throw errors.StackNotSupported(
          `open serial port ${port}: it is a ${type ?? "null"} port and not a unix socket`,
        );
      }
      return path;
    },
    serialLog: (port) => serial(port).log?.file,
  };
}
