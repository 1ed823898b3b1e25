import * as fs from "node:fs";
import type { Architecture } from "@polyvirt/hypervisor";
import { errors } from "../errors.ts";

/** Machines by the numbers that executables of UEFI have for them; kernels are such executables, too. */
const efiMachines: Readonly<Record<number, Architecture>> = { 0x8664: "amd64", 0x014c: "amd64", 0xaa64: "arm64" };

/** Where the marks of kernels lie, for those that are no executables of UEFI. */
const marks: readonly { readonly at: number; readonly text: string; readonly architecture: Architecture }[] = [
  { at: 0x202, text: "HdrS", architecture: "amd64" },
  { at: 56, text: "ARMd", architecture: "arm64" },
  { at: 0x1_0008, text: "S390EP", architecture: "s390x" },
];

const headBytes = 0x1_0010;

/** For which machines a kernel is; undefined where it does not say. */
export function kernelArchitecture(head: Buffer): Architecture | undefined {
  const marked = marks.find(({ at, text }) => head.toString("latin1", at, at + text.length) === text);
  if (marked !== undefined) return marked.architecture;
  if (head.length < 0x40 || head.toString("latin1", 0, 2) !== "MZ") return undefined;
  const header = head.readUInt32LE(0x3c);
  if (header + 6 > head.length || head.toString("latin1", header, header + 4) !== "PE\0\0") return undefined;
  return efiMachines[head.readUInt16LE(header + 4)];
}

/** Refuses a kernel that the guest's CPU cannot run: the machine would stand still without a word. */
export function checkKernel(path: string, wanted: Architecture, image: string): void {
  const head = Buffer.alloc(headBytes);
  const fd = fs.openSync(path, "r");
  try {
    const read = fs.readSync(fd, head, 0, headBytes, 0);
    const found = kernelArchitecture(head.subarray(0, read));
    if (found === undefined || found === wanted) return;
    throw errors.LauncherImageRefused(
      `boot a guest of architecture ${wanted}: the kernel of image "${image}" is for ${found}; use an image for ${wanted}`,
      { fields: { image, found, wanted } },
    );
  } finally {
    fs.closeSync(fd);
  }
}
