import { errors } from "./errors.ts";
import { libc } from "./libc.ts";
import { listProcesses } from "./process-identity.ts";

/** How a process ended: by itself with a code, or by a signal. */
export interface ProcessEnd {
  readonly code?: number;
  readonly signal?: number;
}

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;

/**
 * From now on, descendants whose own parent ends become children of this process instead of the machine's or container's
 * first process, which may collect their ends late or never: until then a dead process still counts as there.
 */
export function adoptOrphans(): void {
  const c = libc();
  if (c.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) {
    throw errors.HostCallFailed(`become the parent of orphans: errno ${c.errno()}`);
  }
}

/**
 * Takes note of the ends of adopted children, so that the kernel forgets them, and tells how each ended. Children that
 * Node has spawned are left to Node: those belong to our session, or were spawned as detached and must be named here.
 */
export function collectOrphans(detached: ReadonlySet<number>): ReadonlyMap<number, ProcessEnd> {
  const processes = listProcesses();
  const session = processes.find(({ pid }) => pid === process.pid)?.session;
  const dead = processes.filter(
    (entry) =>
      entry.parent === process.pid && entry.state === "Z" && entry.session !== session && !detached.has(entry.pid),
  );
  return new Map(dead.map(({ pid }) => [pid, collectEnd(pid)] as const));
}

function collectEnd(pid: number): ProcessEnd {
  const status = new Int32Array(1);
  libc().waitpid(pid, status, WNOHANG);
  const word = status[0] ?? 0;
  const signal = word & 0x7f;
  return signal === 0 ? { code: (word >> 8) & 0xff } : { signal };
}
