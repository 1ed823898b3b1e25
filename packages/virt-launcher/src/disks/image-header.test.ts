import { describe, expect, it } from "vitest";
import { imageHeaderBytes, readImageHeader } from "./image-header.ts";

function qcow2(change: (header: Buffer) => void = () => {}): Buffer {
  const header = Buffer.alloc(imageHeaderBytes);
  header.write("QFI\xfb", 0, "latin1");
  header.writeUInt32BE(3, 4);
  header.writeBigUInt64BE(1n << 30n, 24);
  change(header);
  return header;
}

describe("readImageHeader", () => {
  it("reads the size of a qcow2 image", () => {
    expect(readImageHeader(qcow2())).toEqual({ format: "qcow2", virtualBytes: 1n << 30n });
    expect(readImageHeader(qcow2((header) => header.writeUInt32BE(2, 4)))).toMatchObject({ format: "qcow2" });
  });

  it.each([
    ["a boot sector", Buffer.from("fa31c0", "hex")],
    ["nothing", Buffer.alloc(0)],
    ["three bytes of the magic", Buffer.from("QFI")],
  ])("takes %s for raw", (_name, bytes) => {
    expect(readImageHeader(bytes)).toEqual({ format: "raw" });
  });

  it.each<[string, Buffer, string]>([
    ["a backing file", qcow2((header) => header.writeBigUInt64BE(1024n, 8)), "backing file"],
    ["a data file", qcow2((header) => header.writeBigUInt64BE(4n, 72)), "another file"],
    ["encryption", qcow2((header) => header.writeUInt32BE(2, 32)), "encrypted"],
    ["corruption", qcow2((header) => header.writeBigUInt64BE(2n, 72)), "corrupt"],
    ["unknown features", qcow2((header) => header.writeBigUInt64BE(1n << 40n, 72)), "not known"],
    ["an unknown version", qcow2((header) => header.writeUInt32BE(4, 4)), "version 4"],
    ["a cut header", qcow2().subarray(0, 60), "cut off"],
    ["VMDK", Buffer.from("KDMV\x01\x00\x00\x00"), "VMDK"],
    ["VHDX", Buffer.from("vhdxfile"), "VHDX"],
  ])("refuses %s", (_name, bytes, why) => {
    expect(readImageHeader(bytes)).toEqual({ format: "refused", why: expect.stringContaining(why) });
  });
});
