import * as fs from "node:fs";
import { Socket } from "node:net";
import { errors } from "../errors.ts";
import { libc } from "../libc.ts";

const CLONE_NEWNET = 0x4000_0000;
const AF_INET = 2;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;

/**
 * A TCP socket that lives in another network namespace, to be connected by the caller: to an address of that namespace,
 * such as its own loopback.
 *
 * SAFETY: a socket belongs to the namespace that its thread is in when it is made. The main thread goes there and back
 * within this one synchronous call, so nothing else of this program can run in between; if the way back fails, the
 * program ends rather than going on in a foreign network.
 */
export function socketInNetwork(namespacePath: string): Socket {
  const c = libc();
  const own = fs.openSync("/proc/thread-self/ns/net", "r");
  try {
    const target = fs.openSync(namespacePath, "r");
    try {
      if (c.setns(target, CLONE_NEWNET) !== 0)
        throw errors.HostCallFailed(`enter the network namespace ${namespacePath}: errno ${c.errno()}`);
    } finally {
      fs.closeSync(target);
    }
    const fd = c.socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const errno = fd < 0 ? c.errno() : 0;
    if (c.setns(own, CLONE_NEWNET) !== 0) process.abort();
    if (fd < 0) throw errors.HostCallFailed(`make a socket in the network namespace ${namespacePath}: errno ${errno}`);
    return new Socket({ fd });
  } finally {
    fs.closeSync(own);
  }
}
