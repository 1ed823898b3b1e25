import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkKernel, kernelArchitecture } from "./kernel-architecture.ts";

function marked(at: number, text: string): Buffer {
  const head = Buffer.alloc(at + 32);
  head.write(text, at, "latin1");
  return head;
}

function efi(machine: number): Buffer {
  const head = marked(0x80, "PE\0\0");
  head.write("MZ", 0, "latin1");
  head.writeUInt32LE(0x80, 0x3c);
  head.writeUInt16LE(machine, 0x84);
  return head;
}

describe("kernelArchitecture", () => {
  it.each([
    ["a bzImage", marked(0x202, "HdrS"), "amd64"],
    ["an Image of arm64", marked(56, "ARMd"), "arm64"],
    ["a kernel of s390x", marked(0x1_0008, "S390EP"), "s390x"],
    ["a compressed EFI kernel", efi(0xaa64), "arm64"],
    ["an EFI kernel of a machine that we do not know", efi(0x5064), undefined],
    ["a header that leads out of the file", efi(0x8664).subarray(0, 0x82), undefined],
    ["a text", Buffer.from("no kernel"), undefined],
    ["nothing", Buffer.alloc(0), undefined],
  ])("knows %s", (_, head, architecture) => {
    expect(kernelArchitecture(head)).toBe(architecture);
  });
});

describe("checkKernel", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "kernel-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("names the image, what it is for, and what was asked for", () => {
    const path = join(folder, "vmlinuz");
    writeFileSync(path, marked(0x202, "HdrS"));
    expect(() => checkKernel(path, "arm64", "kernel:1")).toThrow(
      'boot a guest of architecture arm64: the kernel of image "kernel:1" is for amd64; use an image for arm64',
    );
    expect(() => checkKernel(path, "amd64", "kernel:1")).not.toThrow();
  });
});
