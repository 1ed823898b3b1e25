import * as fs from "node:fs";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";
import { unescapeMountInfo } from "./mounts.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { openTrustedDirectory, type OpenedPath } from "./safe-path.ts";

const CLONE_NEWNS = 0x0002_0000;
const CLONE_FS = 0x0000_0200;
// These calls have the same numbers on every architecture.
const SYS_OPEN_TREE = 428;
const SYS_MOVE_MOUNT = 429;
const OPEN_TREE_CLONE = 1;
const OPEN_TREE_CLOEXEC = 0o2000000;
const AT_EMPTY_PATH = 0x1000;
const MOVE_MOUNT_F_EMPTY_PATH = 0x4;
const MOVE_MOUNT_T_EMPTY_PATH = 0x40;
const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;
const EPERM = 1;

/** A file or device as one process sees it. */
interface SeenFile {
  readonly process: ProcessIdentity;
  /** Opened below `openProcessRoot` of that process. */
  readonly file: OpenedPath;
}

/**
 * The root of the file system as a process sees it; everything below is reached with `openBeneath`.
 * SAFETY: the root is entered through the process's id, and its identity is checked afterwards.
 */
export function openProcessRoot(identity: ProcessIdentity): OpenedPath {
  const root = openTrustedDirectory(`/proc/${identity.pid}/root`);
  if (isAlive(identity)) return root;
  root.close();
  throw errors.HostProcessGone(`open the files of process ${identity.pid}: it has ended`);
}

/** Where something is mounted in the file system of a process, as the kernel tells it; empty when it has ended. */
export function processMountPoints({ pid }: ProcessIdentity): string[] {
  try {
    const lines = fs.readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => unescapeMountInfo(line.split(" ")[4] ?? ""));
  } catch {
    return [];
  }
}

/**
 * Shows a file or device that one container has to another one, in the place of a file that is there.
 *
 * SAFETY: source and target are the opened files themselves; no path is looked up again, so nobody can exchange them.
 * A mount can only be copied and put in place by who is in its namespace. The main thread goes there and back within this
 * one synchronous call, so nothing else of this program can run in between; if the way back fails, the program ends
 * rather than going on in a foreign file system.
 */
export function graftFile(source: SeenFile, target: SeenFile): void {
  const what = `show ${source.file.description} at ${target.file.description}`;
  const c = libc();
  visiting(what, [source.process, target.process], ([enterSource, enterTarget]) => {
    enterSource();
    const flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
    const tree = c.openTree(SYS_OPEN_TREE, source.file.fd, "", flags);
    if (tree < 0) throw failed(`${what}: copy the mount`);
    try {
      enterTarget();
      const place = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
      if (c.moveMount(SYS_MOVE_MOUNT, tree, "", target.file.fd, "", place) !== 0)
        throw failed(`${what}: put the mount in place`);
    } finally {
      fs.closeSync(tree);
    }
  });
}

/**
 * Takes away what was mounted on an entry of a directory of another container. What is still in use goes when its last
 * user does.
 * SAFETY: as in `graftFile`; the entry is named relative to the opened directory, and a symlink is not followed.
 */
export function ungraftFile(process: ProcessIdentity, directory: OpenedPath, name: string): void {
  directory.child(name);
  const what = `take the mount at ${directory.description}/${name} away`;
  const c = libc();
  visiting(what, [process], ([enter]) => {
    enter();
    if (c.fchdir(directory.fd) !== 0) throw failed(`${what}: go there`);
    if (c.umount2(name, MNT_DETACH | UMOUNT_NOFOLLOW) !== 0) throw failed(what);
  });
}

type Enter = () => void;

/** Runs `act`, which may go from one process's mount namespace to the next, and comes back. */
function visiting<const Processes extends readonly ProcessIdentity[]>(
  what: string,
  processes: Processes,
  act: (enter: { [Index in keyof Processes]: Enter }) => void,
): void {
  const c = libc();
  // Only a thread whose root and working directory are its own may change its mount namespace.
  if (c.unshare(CLONE_FS) !== 0) throw failed(`${what}: part with the other threads' root`);
  // Everything is opened before: from there, our own /proc is out of sight.
  const own = fs.openSync("/proc/thread-self/ns/mnt", "r");
  const directory = openTrustedDirectory(".");
  const root = identityOf("/");
  const namespaces: number[] = [];
  let away = false;
  const enter = (index: number) => (): void => {
    away = true;
    if (c.setns(namespaces[index] ?? -1, CLONE_NEWNS) !== 0) throw failed(`${what}: enter a mount namespace`);
  };
  try {
    for (const identity of processes) namespaces.push(openNamespace(identity, what));
    // One for each process, in the same order.
    act(processes.map((_, index) => enter(index)) as { [Index in keyof Processes]: Enter });
  } finally {
    const back = !away || (c.setns(own, CLONE_NEWNS) === 0 && c.fchdir(directory.fd) === 0);
    if (!back || identityOf("/") !== root) process.abort();
    directory.close();
    for (const fd of [own, ...namespaces]) fs.closeSync(fd);
  }
}

function openNamespace(identity: ProcessIdentity, what: string): number {
  const fd = fs.openSync(`/proc/${identity.pid}/ns/mnt`, "r");
  if (isAlive(identity)) return fd;
  fs.closeSync(fd);
  throw errors.HostProcessGone(`${what}: process ${identity.pid} has ended`);
}

function identityOf(path: string): string {
  const { dev, ino } = fs.statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function failed(operation: string): Error {
  const errno = libc().errno();
  if (errno === EPERM) {
    return errors.HostUnsupported(
      `${operation}: not permitted; attaching disks to running guests needs a root cluster`,
    );
  }
  return errors.HostCallFailed(`${operation}: errno ${errno}`);
}
