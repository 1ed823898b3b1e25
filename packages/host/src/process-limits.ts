import { errors } from "./errors.ts";
import { libc } from "./libc.ts";
import { isAlive, listProcesses, type ProcessIdentity } from "./process-identity.ts";

const RLIMIT_MEMLOCK = 8;
const EPERM = 1;
const ESRCH = 3;

/**
 * Lets a process, and everything that it starts from now on, keep this much memory from being moved. Never lowers what it
 * may already.
 * SAFETY: the identity is checked directly before the call; a process that takes the same id in between would be allowed
 * to lock memory, which its own cgroup still limits.
 */
export function raiseMemoryLockLimit(identity: ProcessIdentity, bytes: number): void {
  const c = libc();
  const operation = `let process ${identity.pid} lock ${bytes} bytes of memory`;
  if (!isAlive(identity)) throw errors.HostProcessGone(`${operation}: it has ended`);
  const current = new BigUint64Array(2);
  const fail = (): never => {
    const errno = c.errno();
    if (errno === ESRCH) throw errors.HostProcessGone(`${operation}: it has ended`);
    throw errors.HostCallFailed(
      errno === EPERM
        ? `${operation}: the kernel refuses; CAP_SYS_RESOURCE is needed for it`
        : `${operation}: errno ${errno}`,
    );
  };
  if (c.prlimit64(identity.pid, RLIMIT_MEMLOCK, null, current) !== 0) fail();
  const [soft = 0n, hard = 0n] = current;
  const wanted = BigInt(bytes);
  if (soft >= wanted) return;
  const next = new BigUint64Array([wanted, hard > wanted ? hard : wanted]);
  if (c.prlimit64(identity.pid, RLIMIT_MEMLOCK, next, null) !== 0) fail();
}

/** The process itself and everything that descends from it, by what is running now. */
export function processTree(root: number): { readonly pid: number; readonly command: string }[] {
  const all = listProcesses();
  const found = new Set([root]);
  // Parents may come after their children in the list, so it is gone over until nothing is added.
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid)).map(({ pid, command }) => ({ pid, command }));
}
