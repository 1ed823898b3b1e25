import * as fs from "node:fs";
import { errors } from "./errors.ts";
import type { OpenedPath } from "./safe-path.ts";

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;

/**
 * Makes a file of holes in a directory for a user; false when something has that name already.
 * SAFETY: the entry is made in the opened directory, must be new, and no symlink is followed.
 */
export function makeSparseFile(directory: OpenedPath, name: string, bytes: number, owner: Owner): boolean {
  let fd: number;
  try {
    fd = fs.openSync(directory.child(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false;
    throw errors.HostCallFailed(`make ${directory.description}/${name}`, { cause });
  }
  try {
    fs.ftruncateSync(fd, bytes);
    fs.fchownSync(fd, owner.uid, owner.gid);
    return true;
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Gives a file to a user, unless it is his already.
 * SAFETY: it is the opened file, not a path, that gets another owner; and only a regular one.
 */
export function giveFile(file: OpenedPath, { uid, gid }: Owner): void {
  const found = fs.fstatSync(file.fd);
  if (!found.isFile()) throw errors.HostPathUnsafe(`give ${file.description} to user ${uid}: it is no regular file`);
  if (found.uid !== uid) fs.chownSync(file.path, uid, gid);
}
