import * as fs from "node:fs";
import { libc } from "./libc.ts";

const FALLOC_FL_KEEP_SIZE = 1;
const FALLOC_FL_PUNCH_HOLE = 2;

/**
 * Gives the disk space of the first `length` bytes of a file back, without moving what follows. False where the file
 * system cannot do it: the file then only takes more space.
 */
export function releaseRange(file: string, length: number): boolean {
  const fd = fs.openSync(file, "r+");
  try {
    return libc().fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, length) === 0;
  } finally {
    fs.closeSync(fd);
  }
}
