import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { prepareFirmware } from "./firmware.ts";

let root: string;
let places: { guestDirectory: string; persistentState: string; root: string };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "firmware-"));
  places = { guestDirectory: join(root, "guest"), persistentState: join(root, "state"), root };
  for (const name of ["OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd", "OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.ms.fd"]) {
    const path = join(root, "usr/share/OVMF", name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `content of ${name}`);
  }
});
afterEach(() => rm(root, { recursive: true }));

function vmi(efi: { secureBoot?: boolean; persistent?: boolean } | undefined): VirtualMachineInstance {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "vm" },
    spec: { domain: { devices: {}, ...(efi === undefined ? {} : { firmware: { bootloader: { efi } } }) } },
  };
}

describe("prepareFirmware", () => {
  it("gives the guest its own copy of the variables that fit its firmware", async () => {
    const plain = await prepareFirmware(vmi({ secureBoot: false }), "amd64", places);
    expect(plain.efi?.code).toBe(join(root, "usr/share/OVMF/OVMF_CODE_4M.fd"));
    expect(await readFile(plain.nvram ?? "", "utf8")).toBe("content of OVMF_VARS_4M.fd");
    expect((await stat(plain.nvram ?? "")).mode & 0o777).toBe(0o600);
  });

  it("takes keys for secure boot, which is on unless the VMI says otherwise", async () => {
    const { nvram } = await prepareFirmware(vmi({}), "amd64", places);
    expect(await readFile(nvram ?? "", "utf8")).toBe("content of OVMF_VARS_4M.ms.fd");
  });

  it("keeps what the guest wrote, in the volume that outlives the pod when the VMI asks for that", async () => {
    const first = await prepareFirmware(vmi({ secureBoot: false, persistent: true }), "amd64", places);
    expect(first.nvram?.startsWith(places.persistentState)).toBe(true);
    await writeFile(first.nvram ?? "", "the guest's own");
    const second = await prepareFirmware(vmi({ secureBoot: false, persistent: true }), "amd64", places);
    expect(await readFile(second.nvram ?? "", "utf8")).toBe("the guest's own");
  });

  it("names no firmware where there is none, so that the converter refuses by field", async () => {
    const files = await prepareFirmware(vmi({ secureBoot: false }), "arm64", places);
    expect(files.efi).toBeUndefined();
    expect(await prepareFirmware(vmi(undefined), "amd64", places)).toEqual({});
  });
});
