import type { Domain } from "@polyvirt/domain";
import type { Console } from "./contract.ts";
import { errors } from "./errors.ts";

/** Finds the machine for an operation, or says that there is none. */
type FindMachine = (operation: string) => { readonly definition: Domain };

/**
 * For stacks whose monitor serves the serial ports on the sockets that the definition names, and writes what the guest
 * says to the log whether or not anybody reads.
 */
export function serialConsole(running: FindMachine): Console {
  const serial = (port: number) => {
    const found = running("open the console of").definition.devices?.serials?.[port];
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

/** Likewise for the display. */
export function vncSocketOf(running: FindMachine): string {
  const displays = running("open the display of").definition.devices?.graphics ?? [];
  const sockets = displays.flatMap((display) => [
    display.socket,
    ...(display.listens ?? []).map((listen) => listen.socket),
  ]);
  const socket = sockets.find((path) => path !== undefined);
  if (socket === undefined) throw errors.StackDomainNotFound("open the display: the machine has no VNC socket");
  return socket;
}
