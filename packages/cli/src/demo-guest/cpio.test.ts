import { describe, expect, it } from "vitest";
import { writeCpio } from "./cpio.ts";

describe("writeCpio", () => {
  const archive = writeCpio([
    { type: "directory", path: "etc" },
    { type: "file", path: "etc/name", content: Buffer.from("hello"), mode: 0o644 },
    { type: "symlink", path: "link", target: "etc/name" },
  ]);

  it("writes records that a reader of the newc format finds again", () => {
    expect(readCpio(archive)).toEqual([
      { path: "etc", mode: 0o040755, content: "" },
      { path: "etc/name", mode: 0o100644, content: "hello" },
      { path: "link", mode: 0o120777, content: "etc/name" },
      { path: "TRAILER!!!", mode: 0, content: "" },
    ]);
  });

  it("keeps every record on a boundary of four bytes", () => {
    expect(archive.length % 4).toBe(0);
  });
});

/** Written from the format's description, not from the writer: 6 bytes of magic, 13 numbers of 8 hex digits. */
function readCpio(archive: Buffer): { path: string; mode: number; content: string }[] {
  const records: { path: string; mode: number; content: string }[] = [];
  let offset = 0;
  while (offset < archive.length) {
    expect(archive.toString("latin1", offset, offset + 6)).toBe("070701");
    const number = (index: number) =>
      parseInt(archive.toString("latin1", offset + 6 + index * 8, offset + 14 + index * 8), 16);
    const mode = number(1);
    const size = number(6);
    const nameSize = number(11);
    const nameStart = offset + 110;
    const contentStart = Math.ceil((nameStart + nameSize) / 4) * 4;
    records.push({
      path: archive.toString("utf8", nameStart, nameStart + nameSize - 1),
      mode,
      content: archive.toString("utf8", contentStart, contentStart + size),
    });
    offset = Math.ceil((contentStart + size) / 4) * 4;
  }
  return records;
}
