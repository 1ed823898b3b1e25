import { createRequire } from "node:module";
import type * as Koffi from "koffi";
import { errors } from "./errors.ts";

/** The C library's calls that Node does not offer. Loading costs 13 ms and 3 MB, so it happens at the first call. */
interface Libc {
  getsockopt(fd: number, level: number, name: number, value: Buffer, length: Uint32Array): number;
  /** `syscall(2)` with up to four word-sized arguments. */
  syscall(number: number, a: number, b: number, c: number, d: number): number;
  fallocate(fd: number, mode: number, offset: number, length: number): number;
  posix_openpt(flags: number): number;
  unlockpt(fd: number): number;
  ioctl(fd: number, request: number, value: Buffer): number;
  /** For requests whose argument is a number. */
  ioctlNumber(fd: number, request: number, value: number): number;
  setsockopt(fd: number, level: number, name: number, value: Buffer, length: number): number;
  mknod(path: string, mode: number, device: number): number;
  setns(fd: number, type: number): number;
  socket(domain: number, type: number, protocol: number): number;
  mount(source: string, target: string, type: string, flags: number, options: string): number;
  umount2(target: string, flags: number): number;
  unshare(flags: number): number;
  fchdir(fd: number): number;
  /** `open_tree(2)` and `move_mount(2)`, which not every C library has, by their numbers. */
  openTree(number: number, directory: number, path: string, flags: number): number;
  moveMount(number: number, from: number, fromPath: string, to: number, toPath: string, flags: number): number;
  prctl(option: number, a: number, b: number, c: number, d: number): number;
  waitpid(pid: number, status: Int32Array, options: number): number;
  prlimit64(pid: number, resource: number, next: BigUint64Array | null, previous: BigUint64Array | null): number;
  sched_setaffinity(pid: number, size: number, mask: Buffer): number;
  errno(): number;
}

let loaded: Libc | undefined;

export function libc(): Libc {
  loaded ??= load();
  return loaded;
}

function load(): Libc {
  const require = createRequire(import.meta.url);
  let koffi: typeof Koffi;
  try {
    // The module's own types describe what require returns.
    koffi = require("koffi") as typeof Koffi;
  } catch (cause) {
    throw errors.HostUnsupported("load the FFI module koffi: reinstall Polyvirt's dependencies", { cause });
  }
  const library = koffi.load(null);
  // koffi's functions are untyped; the prototypes say what they take and return.
  return {
    getsockopt: library.func("int getsockopt(int, int, int, void *, void *)"),
    syscall: library.func("long syscall(long, long, long, long, long)"),
    fallocate: library.func("int fallocate(int, int, int64_t, int64_t)"),
    posix_openpt: library.func("int posix_openpt(int)"),
    unlockpt: library.func("int unlockpt(int)"),
    ioctl: library.func("int ioctl(int, unsigned long, void *)"),
    ioctlNumber: library.func("int ioctl(int, unsigned long, long)"),
    mount: library.func("int mount(const char *, const char *, const char *, unsigned long, const char *)"),
    umount2: library.func("int umount2(const char *, int)"),
    unshare: library.func("int unshare(int)"),
    fchdir: library.func("int fchdir(int)"),
    openTree: library.func("long syscall(long, int, const char *, unsigned int)"),
    moveMount: library.func("long syscall(long, int, const char *, int, const char *, unsigned int)"),
    setsockopt: library.func("int setsockopt(int, int, int, void *, uint32_t)"),
    mknod: library.func("int mknod(const char *, uint32_t, uint64_t)"),
    setns: library.func("int setns(int, int)"),
    socket: library.func("int socket(int, int, int)"),
    prctl: library.func("int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)"),
    waitpid: library.func("int waitpid(int, void *, int)"),
    prlimit64: library.func("int prlimit64(int, int, void *, void *)"),
    sched_setaffinity: library.func("int sched_setaffinity(int, size_t, void *)"),
    errno: () => koffi.errno(),
  };
}
