import * as fs from "node:fs";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";

/** A pseudo terminal: what is written to `master` is typed, what the program prints is read from it. */
export interface Terminal {
  readonly master: number;
  /** For the program's standard input, output and error; close it once the program runs. */
  readonly slave: number;
  resize(columns: number, rows: number): void;
}

const TIOCSWINSZ = 0x5414;
const { O_RDWR, O_NOCTTY } = fs.constants;

export function openTerminal(): Terminal {
  const c = libc();
  const master = c.posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0) throw errors.HostCallFailed(`open a terminal: errno ${c.errno()}`);
  try {
    const name = Buffer.alloc(64);
    if (c.grantpt(master) !== 0 || c.unlockpt(master) !== 0 || c.ptsname_r(master, name, name.length) !== 0) {
      throw errors.HostCallFailed(`open a terminal: errno ${c.errno()}`);
    }
    const slave = fs.openSync(name.toString("utf8", 0, name.indexOf(0)), O_RDWR | O_NOCTTY);
    return {
      master,
      slave,
      resize(columns, rows) {
        // struct winsize { unsigned short rows, columns, x pixels, y pixels }
        const size = new Uint16Array([rows, columns, 0, 0]);
        if (c.ioctl(master, TIOCSWINSZ, Buffer.from(size.buffer)) !== 0) {
          throw errors.HostCallFailed(`resize a terminal: errno ${c.errno()}`);
        }
      },
    };
  } catch (error) {
    fs.closeSync(master);
    throw error;
  }
}
