import * as fs from "node:fs";
import { errors } from "./errors.ts";

/**
 * Opening what lies in a directory that somebody else (a pod, an image, a guest) can write to.
 *
 * Each component is opened relative to the descriptor of the one before, never following a symlink, and what was opened
 * is what is used: callers work on `path` (`/proc/self/fd/N`), which names the opened file itself, so nobody can exchange
 * it between the check and the use. The descriptor has to stay open for as long as `path` is used.
 */
export interface OpenedPath {
  readonly fd: number;
  /** `/proc/self/fd/N`: connect to it, read it, or list it. */
  readonly path: string;
  readonly kind: FileKind;
  /** Where the walk began and what it opened, for messages only. */
  readonly description: string;
  /** A path for one entry of this directory: to bind a socket at, to create, rename or unlink. Never to read through. */
  child(name: string): string;
  close(): void;
  [Symbol.dispose](): void;
}

export type FileKind = "file" | "directory" | "socket" | "fifo" | "device" | "symlink";

interface OpenOptions {
  /** Refuse anything else than this kind. */
  readonly expect?: FileKind;
}

interface CreateOptions {
  readonly mode?: number;
}

// Node has no name for O_PATH; the value is the same on x86-64, arm64 and s390x.
const O_PATH = 0o10000000;
const { O_NOFOLLOW, O_DIRECTORY, O_RDONLY, O_CREAT, O_EXCL, O_WRONLY } = fs.constants;

/**
 * Opens a directory that the caller trusts (its own configuration names it): symlinks on the way are followed.
 * Everything below is then reached with `openBeneath`.
 */
export function openTrustedDirectory(path: string): OpenedPath {
  return opened(openAt(path, O_PATH | O_DIRECTORY, path), path);
}

/** Opens `relative` below `root` without following a symlink in any component. */
export function openBeneath(root: OpenedPath, relative: string, options: OpenOptions = {}): OpenedPath {
  const components = componentsOf(relative, root.description);
  const description = `${root.description}/${components.join("/")}`;
  let fd = openAt(root.path, O_PATH | O_DIRECTORY, root.description);
  for (const [index, component] of components.entries()) {
    const last = index === components.length - 1;
    const parent = fd;
    try {
      const flags = O_PATH | O_NOFOLLOW | (last ? 0 : O_DIRECTORY);
      fd = openAt(`/proc/self/fd/${parent}/${component}`, flags, description);
    } finally {
      fs.closeSync(parent);
    }
  }
  const result = opened(fd, description);
  const wanted = options.expect;
  if (result.kind === "symlink" || (wanted !== undefined && result.kind !== wanted)) {
    result.close();
    const found = result.kind === "symlink" ? "a symlink" : `a ${result.kind}`;
    throw errors.HostPathUnsafe(`open ${description}: found ${found} where ${wanted ?? "no link"} is expected`, {
      fields: { path: description },
    });
  }
  return result;
}

/** Creates the directories of `relative` that are missing and opens the last one; refuses symlinks on the way. */
export function makeDirectoryBeneath(root: OpenedPath, relative: string, options: CreateOptions = {}): OpenedPath {
  const components = componentsOf(relative, root.description);
  let current = openBeneath(root, ".", { expect: "directory" });
  for (const component of components) {
    const parent = current;
    let made = false;
    try {
      try {
        fs.mkdirSync(parent.child(component), { mode: options.mode ?? 0o755 });
        made = true;
      } catch (cause) {
        if (!isErrno(cause, "EEXIST")) throw callFailed(`create directory ${parent.description}/${component}`, cause);
      }
      current = openBeneath(parent, component, { expect: "directory" });
      // A mode that was asked for is meant as it is, without what the process takes away from new files.
      if (made && options.mode !== undefined) fs.chmodSync(current.path, options.mode);
    } finally {
      parent.close();
    }
  }
  return current;
}

/** A descriptor for reading a regular file below `root`; the caller closes it. */
export function openFileForReading(root: OpenedPath, relative: string): number {
  const file = openBeneath(root, relative, { expect: "file" });
  try {
    return openAt(file.path, O_RDONLY, file.description);
  } finally {
    file.close();
  }
}

/** Creates a file that must not exist yet, below `root`, and writes it whole. */
export function createFileBeneath(
  root: OpenedPath,
  relative: string,
  content: string | Uint8Array,
  options: CreateOptions = {},
): void {
  const components = componentsOf(relative, root.description);
  const name = components.pop();
  if (name === undefined) throw errors.HostPathUnsafe(`create a file at ${root.description}: no name given`);
  const directory = openBeneath(root, components.join("/") || ".", { expect: "directory" });
  try {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    const fd = openAt(directory.child(name), flags, `${directory.description}/${name}`, options.mode ?? 0o644);
    try {
      fs.writeFileSync(fd, content);
    } finally {
      fs.closeSync(fd);
    }
  } finally {
    directory.close();
  }
}

function componentsOf(relative: string, root: string): string[] {
  if (relative.startsWith("/") || relative.includes("\0")) {
    throw errors.HostPathUnsafe(`open ${JSON.stringify(relative)} below ${root}: the path must be relative`);
  }
  const components = relative.split("/").filter((component) => component !== "" && component !== ".");
  if (components.includes("..")) {
    throw errors.HostPathUnsafe(`open ${JSON.stringify(relative)} below ${root}: the path must not contain ".."`);
  }
  return components;
}

function openAt(path: string, flags: number, description: string, mode?: number): number {
  try {
    return fs.openSync(path, flags, mode);
  } catch (cause) {
    if (isErrno(cause, "ENOENT")) {
      throw errors.HostPathMissing(`open ${description}: no such file or directory`, { fields: { path: description } });
    }
    // With O_NOFOLLOW a symlink in the place of a directory is ENOTDIR, in the place of a new file ELOOP or EEXIST.
    if (isErrno(cause, "ELOOP") || isErrno(cause, "ENOTDIR") || isErrno(cause, "EEXIST")) {
      throw errors.HostPathUnsafe(`open ${description}: ${reasonOf(cause)}`, { fields: { path: description } });
    }
    throw callFailed(`open ${description}`, cause);
  }
}

function reasonOf(cause: unknown): string {
  if (isErrno(cause, "EEXIST")) return "something is there already";
  return "a component is a symlink or not a directory";
}

function callFailed(operation: string, cause: unknown): Error {
  return errors.HostCallFailed(operation, { cause });
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function opened(fd: number, description: string): OpenedPath {
  let open = true;
  const close = (): void => {
    if (open) fs.closeSync(fd);
    open = false;
  };
  const path = `/proc/self/fd/${fd}`;
  return {
    fd,
    path,
    kind: kindOf(fs.fstatSync(fd)),
    description,
    child(name) {
      if (componentsOf(name, description).length !== 1 || name.includes("/")) {
        throw errors.HostPathUnsafe(`name an entry of ${description}: ${JSON.stringify(name)} is not one plain name`);
      }
      return `${path}/${name}`;
    },
    close,
    [Symbol.dispose]: close,
  };
}

function kindOf(stat: fs.Stats): FileKind {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "directory";
  if (stat.isSymbolicLink()) return "symlink";
  if (stat.isSocket()) return "socket";
  return stat.isFIFO() ? "fifo" : "device";
}
