/**
 * Writes CD images (ISO 9660 with Joliet names, which Linux and Windows read) for what a guest is given as files:
 * cloud-init data, Secrets, ConfigMaps. Pure and deterministic: the same files make the same image.
 */
export interface IsoFile {
  /** Relative, with `/` between its parts. */
  readonly path: string;
  readonly content: Uint8Array;
}

const sectorBytes = 2048;
const firstDescriptor = 16;
/** Longer names do not fit into a directory record. */
export const maxIsoName = 100;

/** First of January 1980: the image is the same whenever it is made, and no reader is surprised. */
const fixedDate = [80, 1, 1, 0, 0, 0, 0] as const;

interface Directory {
  readonly name: string;
  readonly parent: Directory | undefined;
  readonly directories: Directory[];
  readonly files: FileEntry[];
}

interface FileEntry {
  readonly name: string;
  readonly content: Uint8Array;
}

/** One of the two views of the same files: plain names for old readers, and the real ones. */
interface View {
  readonly directoryName: (name: string) => Buffer;
  readonly fileName: (name: string) => Buffer;
  /** Directories in the order of the path table, and where each begins. */
  readonly order: readonly Directory[];
  readonly extents: Map<Directory, { sector: number; bytes: number }>;
  readonly pathTable: { little: number; big: number; bytes: number };
}

export function writeIsoImage(label: string, files: readonly IsoFile[]): Buffer {
  const root = buildTree(files);
  const order = breadthFirst(root);
  let next = firstDescriptor + 3;
  const take = (bytes: number): number => {
    const sector = next;
    next += sectorsFor(bytes);
    return sector;
  };
  const views = [plainNames, jolietNames].map((names) => placeView(names, order, take));
  const contents = new Map<FileEntry, number>();
  for (const directory of order) for (const file of directory.files) contents.set(file, take(file.content.length));
  const image = Buffer.alloc(next * sectorBytes);
  const [plain, joliet] = views as [View, View];
  writeDescriptor(image, firstDescriptor, { type: 1, label: plainLabel(label), view: plain, root, sectors: next });
  writeDescriptor(image, firstDescriptor + 1, { type: 2, label: ucs2(label), view: joliet, root, sectors: next });
  image.write("\u00ffCD001\u0001", (firstDescriptor + 2) * sectorBytes, "latin1");
  for (const view of views) writeView(image, view, contents);
  for (const [file, sector] of contents) image.set(file.content, sector * sectorBytes);
  return image;
}

function buildTree(files: readonly IsoFile[]): Directory {
  const root: Directory = { name: "", parent: undefined, directories: [], files: [] };
  for (const { path, content } of files) {
    const parts = path.split("/").filter((part) => part !== "");
    const name = parts.pop();
    if (name === undefined) continue;
    let directory = root;
    for (const part of parts) {
      let child = directory.directories.find((candidate) => candidate.name === part);
      if (child === undefined) {
        child = { name: part, parent: directory, directories: [], files: [] };
        directory.directories.push(child);
      }
      directory = child;
    }
    directory.files.push({ name, content });
  }
  return root;
}

function breadthFirst(root: Directory): Directory[] {
  const order = [root];
  for (const directory of order) order.push(...directory.directories);
  return order;
}

type Names = Pick<View, "directoryName" | "fileName">;

/** Capital letters, digits and underscores, cut to what the oldest readers take. */
const plainNames: Names = {
  directoryName: (name) => Buffer.from(plain(name, 30)),
  fileName: (name) => Buffer.from(`${plain(name, 26)}.;1`),
};

const jolietNames: Names = {
  directoryName: (name) => ucs2(name),
  fileName: (name) => ucs2(`${name};1`),
};

function plain(name: string, length: number): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, "_")
    .slice(0, length);
}

function ucs2(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}

function plainLabel(label: string): Buffer {
  // Labels keep their letters: cloud-init looks for `cidata`.
  return Buffer.from(label.slice(0, 32), "latin1");
}

function placeView(names: Names, order: readonly Directory[], take: (bytes: number) => number): View {
  const extents: View["extents"] = new Map();
  for (const directory of order) {
    const bytes = sectorsFor(layOut(directory, names).end) * sectorBytes;
    extents.set(directory, { sector: take(bytes), bytes });
  }
  const tableBytes = order.reduce((sum, { name }) => sum + 8 + even(idLength(names, name)), 0);
  return {
    ...names,
    order,
    extents,
    pathTable: { little: take(tableBytes), big: take(tableBytes), bytes: tableBytes },
  };
}

function idLength(names: Names, name: string): number {
  return name === "" ? 1 : names.directoryName(name).length;
}

interface Placed {
  readonly id: Buffer;
  readonly offset: number;
  readonly entry: Directory | FileEntry;
}

/** Where each record of a directory goes: sorted, and none across a boundary of sectors. */
function layOut(directory: Directory, names: Names): { records: Placed[]; end: number } {
  const unsorted = [
    ...directory.directories.map((entry) => ({ id: names.directoryName(entry.name), entry })),
    ...directory.files.map((entry) => ({ id: names.fileName(entry.name), entry })),
  ];
  // "." and ".." come first.
  let end = 2 * recordLength(1);
  const records = unsorted
    .toSorted((left, right) => Buffer.compare(left.id, right.id))
    .map(({ id, entry }) => {
      const length = recordLength(id.length);
      const room = sectorBytes - (end % sectorBytes);
      const offset = length > room ? end + room : end;
      end = offset + length;
      return { id, entry, offset };
    });
  return { records, end };
}

function recordLength(idBytes: number): number {
  return even(33 + idBytes);
}

function writeView(image: Buffer, view: View, contents: ReadonlyMap<FileEntry, number>): void {
  for (const directory of view.order) {
    const own = extentOf(view, directory);
    const base = own.sector * sectorBytes;
    const above = extentOf(view, directory.parent ?? directory);
    writeRecord(image, base, Buffer.from([0]), own, true);
    writeRecord(image, base + recordLength(1), Buffer.from([1]), above, true);
    for (const { id, offset, entry } of layOut(directory, view).records) {
      const isDirectory = "directories" in entry;
      const extent = isDirectory
        ? extentOf(view, entry)
        : { sector: contents.get(entry) ?? 0, bytes: entry.content.length };
      writeRecord(image, base + offset, id, extent, isDirectory);
    }
  }
  writePathTable(image, view, "little");
  writePathTable(image, view, "big");
}

function extentOf(view: View, directory: Directory): { sector: number; bytes: number } {
  return view.extents.get(directory) ?? { sector: 0, bytes: 0 };
}

function writeRecord(
  image: Buffer,
  at: number,
  id: Buffer,
  extent: { sector: number; bytes: number },
  isDirectory: boolean,
): void {
  image.writeUInt8(recordLength(id.length), at);
  writeBoth32(image, at + 2, extent.sector);
  writeBoth32(image, at + 10, extent.bytes);
  Buffer.from(fixedDate).copy(image, at + 18);
  image.writeUInt8(isDirectory ? 2 : 0, at + 25);
  writeBoth16(image, at + 28, 1);
  image.writeUInt8(id.length, at + 32);
  id.copy(image, at + 33);
}

function writePathTable(image: Buffer, view: View, order: "little" | "big"): void {
  let at = view.pathTable[order] * sectorBytes;
  for (const directory of view.order) {
    const id = directory.parent === undefined ? Buffer.from([0]) : view.directoryName(directory.name);
    const parent = view.order.indexOf(directory.parent ?? directory) + 1;
    image.writeUInt8(id.length, at);
    if (order === "little") {
      image.writeUInt32LE(extentOf(view, directory).sector, at + 2);
      image.writeUInt16LE(parent, at + 6);
    } else {
      image.writeUInt32BE(extentOf(view, directory).sector, at + 2);
      image.writeUInt16BE(parent, at + 6);
    }
    id.copy(image, at + 8);
    at += 8 + even(id.length);
  }
}

interface Descriptor {
  readonly type: 1 | 2;
  readonly label: Buffer;
  readonly view: View;
  readonly root: Directory;
  readonly sectors: number;
}

function writeDescriptor(image: Buffer, sector: number, { type, label, view, root, sectors }: Descriptor): void {
  const at = sector * sectorBytes;
  const blank = type === 1 ? Buffer.from(" ") : ucs2(" ");
  image.writeUInt8(type, at);
  image.write("CD001\u0001", at + 1, "latin1");
  image.fill(blank, at + 8, at + 72);
  label.subarray(0, 32).copy(image, at + 40);
  writeBoth32(image, at + 80, sectors);
  // The escape sequence that says "UCS-2, level 3".
  if (type === 2) image.write("%/E", at + 88, "latin1");
  writeBoth16(image, at + 120, 1);
  writeBoth16(image, at + 124, 1);
  writeBoth16(image, at + 128, sectorBytes);
  writeBoth32(image, at + 132, view.pathTable.bytes);
  image.writeUInt32LE(view.pathTable.little, at + 140);
  image.writeUInt32BE(view.pathTable.big, at + 148);
  writeRecord(image, at + 156, Buffer.from([0]), extentOf(view, root), true);
  image.fill(blank, at + 190, at + 813);
  image.fill("0", at + 813, at + 881);
  for (const end of [829, 846, 863, 880]) image.writeUInt8(0, at + end);
  image.writeUInt8(1, at + 881);
}

/** Numbers stand in both byte orders. */
function writeBoth32(image: Buffer, at: number, value: number): void {
  image.writeUInt32LE(value, at);
  image.writeUInt32BE(value, at + 4);
}

function writeBoth16(image: Buffer, at: number, value: number): void {
  image.writeUInt16LE(value, at);
  image.writeUInt16BE(value, at + 2);
}

function sectorsFor(bytes: number): number {
  return Math.ceil(bytes / sectorBytes);
}

function even(value: number): number {
  return value + (value % 2);
}
