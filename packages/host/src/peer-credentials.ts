import type { Socket } from "node:net";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";

/** Who is at the other end of a unix socket, as the kernel recorded it when the connection was made. */
export interface PeerCredentials {
  /** The peer's process id in our pid namespace; 0 when it is not visible from here. */
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const UCRED_BYTES = 12;

/** SAFETY: the credentials come from the kernel, so a peer cannot claim another identity than its own. */
export function peerCredentials(socket: Socket): PeerCredentials {
  const fd = descriptorOf(socket);
  const value = Buffer.alloc(UCRED_BYTES);
  const length = new Uint32Array([UCRED_BYTES]);
  const c = libc();
  if (c.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, value, length) !== 0) {
    throw errors.HostCallFailed(`read peer credentials of a unix socket: errno ${c.errno()}`);
  }
  // struct ucred { pid_t pid; uid_t uid; gid_t gid; } in native byte order.
  const words = new Int32Array(value.buffer, value.byteOffset, 3);
  return { pid: words[0] ?? 0, uid: (words[1] ?? 0) >>> 0, gid: (words[2] ?? 0) >>> 0 };
}

function descriptorOf(socket: Socket): number {
  // Node has no public way from a socket to its descriptor; `_handle.fd` is what its own cluster module uses.
  const handle = (socket as unknown as { _handle?: { fd?: unknown } | null })._handle;
  const fd = handle?.fd;
  if (typeof fd !== "number" || fd < 0) {
    throw errors.HostCallFailed("read peer credentials: the socket is not connected any more");
  }
  return fd;
}
