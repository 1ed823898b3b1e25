import type { Socket } from "node:dgram";
import { errors } from "../errors.ts";
import { libc } from "../libc.ts";

const SOL_SOCKET = 1;
const SO_NO_CHECK = 11;
const SO_BINDTODEVICE = 25;

/**
 * Lets a bound UDP socket hear and speak on one network interface only, also to clients that have no address yet. Its
 * packets carry no checksum: on virtual links the kernel leaves that to hardware that is not there, and clients which look
 * at raw packets would take the unfinished sum for an error.
 */
export function bindToInterface(socket: Socket, name: string): void {
  const fd = descriptorOf(socket);
  const c = libc();
  const set = (option: number, value: Buffer): void => {
    if (c.setsockopt(fd, SOL_SOCKET, option, value, value.length) !== 0)
      throw errors.HostCallFailed(`bind a socket to the network interface ${name}: errno ${c.errno()}`);
  };
  set(SO_BINDTODEVICE, Buffer.from(`${name}\0`));
  set(SO_NO_CHECK, Buffer.from(Int32Array.of(1).buffer));
}

function descriptorOf(socket: Socket): number {
  // Node has no public way from a datagram socket to its descriptor; its own cluster module takes it from the handle, too.
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "state symbol");
  const state =
    symbol === undefined ? undefined : (socket as unknown as Record<symbol, { handle?: { fd?: unknown } }>)[symbol];
  const fd = state?.handle?.fd;
  if (typeof fd !== "number" || fd < 0) throw errors.HostCallFailed("find the descriptor of a socket: it is not bound");
  return fd;
}
