import { describe, expect, it } from "vitest";
import { writeIsoImage } from "./iso-image.ts";

const sector = 2048;

interface Entry {
  readonly name: string;
  readonly content: Buffer;
}

/** Reads an image from its descriptor down, as an operating system does. */
function readIso(image: Buffer, descriptor: 16 | 17): { label: string; files: Entry[] } {
  const at = descriptor * sector;
  expect(image.toString("latin1", at + 1, at + 6)).toBe("CD001");
  const decode = (bytes: Buffer): string =>
    descriptor === 16 ? bytes.toString("latin1") : Buffer.from(bytes).swap16().toString("utf16le");
  const walk = (record: number, prefix: string): Entry[] => {
    const start = image.readUInt32LE(record + 2) * sector;
    const length = image.readUInt32LE(record + 10);
    expect(image.readUInt32BE(record + 6) * sector).toBe(start);
    const entries: Entry[] = [];
    for (let offset = 0; offset < length;) {
      const size = image.readUInt8(start + offset);
      if (size === 0) {
        offset = (Math.floor(offset / sector) + 1) * sector;
        continue;
      }
      const here = start + offset;
      const id = image.subarray(here + 33, here + 33 + image.readUInt8(here + 32));
      offset += size;
      if (id.length === 1 && (id[0] ?? 2) < 2) continue;
      const name = `${prefix}${decode(id)}`;
      if ((image.readUInt8(here + 25) & 2) !== 0) entries.push(...walk(here, `${name}/`));
      else {
        const from = image.readUInt32LE(here + 2) * sector;
        entries.push({ name, content: image.subarray(from, from + image.readUInt32LE(here + 10)) });
      }
    }
    return entries;
  };
  return { label: decode(image.subarray(at + 40, at + 72)).trim(), files: walk(at + 156, "") };
}

const file = (path: string, text: string) => ({ path, content: Buffer.from(text) });

describe("writeIsoImage", () => {
  it("keeps names, folders and contents", () => {
    const image = writeIsoImage("cidata", [
      file("user-data", "#cloud-config\n"),
      file("openstack/latest/meta_data.json", "{}"),
      file("Größe.txt", "x".repeat(5000)),
      file("empty", ""),
    ]);
    const { label, files } = readIso(image, 17);
    expect(label).toBe("cidata");
    expect(files.map(({ name, content }) => [name, content.length])).toEqual([
      ["Größe.txt;1", 5000],
      ["empty;1", 0],
      ["openstack/latest/meta_data.json;1", 2],
      ["user-data;1", 14],
    ]);
    expect(files.at(-1)?.content.toString()).toBe("#cloud-config\n");
  });

  it("has plain names for old readers, and the label as it was given", () => {
    const { label, files } = readIso(writeIsoImage("config-2", [file("user-data", "u")]), 16);
    expect(label).toBe("config-2");
    expect(files.map(({ name }) => name)).toEqual(["USER_DATA.;1"]);
  });

  it("fills directories of more than one sector", () => {
    const many = Array.from({ length: 200 }, (_, index) => file(`a/file-number-${index}-with-a-long-name`, `${index}`));
    const { files } = readIso(writeIsoImage("x", many), 17);
    expect(files).toHaveLength(200);
    expect(files.every(({ name, content }) => name.includes(`-${content.toString()}-`))).toBe(true);
  });

  it("is the same for the same files", () => {
    const files = [file("a", "1"), file("b/c", "2")];
    expect(writeIsoImage("l", files).equals(writeIsoImage("l", files))).toBe(true);
  });
});
