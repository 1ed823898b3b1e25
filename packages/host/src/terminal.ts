import * as fs from "node:fs";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { openBeneath, openTrustedDirectory } from "./safe-path.ts";

/** A pseudo terminal: what is written to `master` is typed, what the program prints is read from it. */
export interface Terminal {
  readonly master: number;
  /** For the program's standard input, output and error; close it once the program runs. */
  readonly slave: number;
  resize(columns: number, rows: number): void;
}

const TIOCSWINSZ = 0x5414;
const TIOCGPTPEER = 0x5441;
/** Major number 5, minor number 2. */
const multiplexerDevice = 0x502;
const { O_RDWR, O_NOCTTY } = fs.constants;

/** A terminal of the machine, or of a running container, where its programs find it by name. */
export function openTerminal(container?: ProcessIdentity): Terminal {
  const c = libc();
  const master = container === undefined ? c.posix_openpt(O_RDWR | O_NOCTTY) : openContainerMaster(container);
  if (master < 0) throw errors.HostCallFailed(`open a terminal: errno ${c.errno()}`);
  try {
    if (c.unlockpt(master) !== 0) throw errors.HostCallFailed(`open a terminal: errno ${c.errno()}`);
    const slave = c.ioctlNumber(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    if (slave < 0) throw errors.HostCallFailed(`open a terminal: errno ${c.errno()}`);
    return { master, slave, resize: (columns, rows) => resizeTerminal(master, columns, rows) };
  } catch (error) {
    fs.closeSync(master);
    throw error;
  }
}

/**
 * SAFETY: the container can put anything in the place of its /dev/pts; what is opened is reached without following
 * symlinks and used only if it is the kernel's own multiplexer. Otherwise the machine's terminals have to do.
 */
function openContainerMaster(container: ProcessIdentity): number {
  const root = openTrustedDirectory(`/proc/${container.pid}/root`);
  try {
    const multiplexer = openBeneath(root, "dev/pts/ptmx", { expect: "device" });
    try {
      const stat = fs.fstatSync(multiplexer.fd);
      if (isAlive(container) && stat.isCharacterDevice() && stat.rdev === multiplexerDevice) {
        return fs.openSync(multiplexer.path, O_RDWR | O_NOCTTY);
      }
    } finally {
      multiplexer.close();
    }
  } catch {
    // It has no terminals of its own, as a privileged container, or has hidden them.
  } finally {
    root.close();
  }
  return libc().posix_openpt(O_RDWR | O_NOCTTY);
}

export function resizeTerminal(descriptor: number, columns: number, rows: number): void {
  const c = libc();
  // struct winsize { unsigned short rows, columns, x pixels, y pixels }
  const size = new Uint16Array([rows, columns, 0, 0]);
  if (c.ioctl(descriptor, TIOCSWINSZ, Buffer.from(size.buffer)) !== 0) {
    throw errors.HostCallFailed(`resize a terminal: errno ${c.errno()}`);
  }
}
