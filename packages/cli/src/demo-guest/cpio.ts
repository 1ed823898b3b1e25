/** One entry of an initramfs archive. */
export type CpioEntry =
  | { readonly type: "file"; readonly path: string; readonly content: Uint8Array; readonly mode: number }
  | { readonly type: "directory"; readonly path: string }
  | { readonly type: "symlink"; readonly path: string; readonly target: string };

const fileTypeBits = { file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const;

/** Writes the "newc" cpio format, the one Linux unpacks as initramfs. Times and owners are zero: same input, same bytes. */
export function writeCpio(entries: readonly CpioEntry[]): Buffer {
  const chunks: Buffer[] = [];
  entries.forEach((entry, index) => chunks.push(...encode(entry, index + 1)));
  chunks.push(...encodeRecord("TRAILER!!!", 0, 0, Buffer.alloc(0)));
  return Buffer.concat(chunks);
}

function encode(entry: CpioEntry, inode: number): Buffer[] {
  const bits = fileTypeBits[entry.type];
  switch (entry.type) {
    case "file":
      return encodeRecord(entry.path, inode, bits | entry.mode, Buffer.from(entry.content));
    case "directory":
      return encodeRecord(entry.path, inode, bits | 0o755, Buffer.alloc(0));
    case "symlink":
      return encodeRecord(entry.path, inode, bits | 0o777, Buffer.from(entry.target));
  }
}

function encodeRecord(path: string, inode: number, mode: number, content: Buffer): Buffer[] {
  const name = Buffer.from(`${path}\0`);
  // magic, ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
  const numbers = [inode, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const header = Buffer.from(`070701${numbers.map((number) => number.toString(16).padStart(8, "0")).join("")}`);
  return [header, name, padding(header.length + name.length), content, padding(content.length)];
}

function padding(length: number): Buffer {
  return Buffer.alloc((4 - (length % 4)) % 4);
}
