import { mkdir, open, readFile, readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../run-command.ts";
import type { PackageSource } from "./debian-packages.ts";
import type { DemoProfile } from "./demo-architecture.ts";
import { writeIplDisk } from "./ipl-disk.ts";

interface BootDisk {
  readonly profile: DemoProfile;
  readonly kernel: string;
  readonly initramfs: string;
  /** Packages of the guest's architecture, for its UEFI loader. */
  readonly guestPackages: PackageSource;
  /** Packages of this machine, for the tools. */
  readonly hostPackages: PackageSource;
  readonly workDir: string;
}

const mebibyte = 1024 * 1024;
const sectorBytes = 512;
const partitionStart = mebibyte;
const greeting = "These words come from the guest's own disk.\n";

/** Writes a disk that starts by itself: by BIOS and UEFI, by UEFI alone, or by the mainframe's initial program load. */
export async function makeBootDisk(disk: BootDisk, target: string): Promise<void> {
  const raw = join(disk.workDir, "boot.raw");
  const { profile } = disk;
  const commandLine = profile.kernelArguments;
  if (profile.boot.kind === "ipl") {
    await writeFile(raw, writeIplDisk(await readFile(disk.kernel), await readFile(disk.initramfs), commandLine));
  } else {
    await makeFatDisk(disk, profile.boot, commandLine, raw);
  }
  await runCommand("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", "-c", raw, target]);
}

async function makeFatDisk(
  disk: BootDisk,
  boot: Extract<DemoProfile["boot"], { kind: "fat" }>,
  commandLine: string,
  raw: string,
): Promise<void> {
  const tools = join(disk.workDir, "tools");
  // syslinux exists for PCs only; a disk made elsewhere starts by UEFI alone.
  const bios = boot.bios && process.arch === "x64";
  await disk.hostPackages.unpack(["mtools", ...(bios ? ["syslinux", "syslinux-common"] : [])], tools);
  const efi = join(disk.workDir, "efi");
  await disk.guestPackages.unpack(["systemd-boot-efi"], efi);
  const env = {
    PATH: `${join(tools, "usr/bin")}:${process.env["PATH"] ?? ""}`,
    MTOOLS_SKIP_CHECK: "1",
    MTOOLSRC: "/dev/null",
  };
  const content = join(disk.workDir, "boot-content");
  await layOut(content, {
    [`EFI/BOOT/${boot.efiName}`]: await readFile(join(efi, "usr/lib/systemd/boot/efi", boot.efiLoader)),
    "loader/loader.conf": "timeout 0\ndefault demo.conf\n",
    "loader/entries/demo.conf": `title demo\nlinux /vmlinuz\ninitrd /initramfs\noptions ${commandLine}\n`,
    ...(bios
      ? {
          "syslinux.cfg": `DEFAULT demo\nPROMPT 0\nTIMEOUT 0\nLABEL demo\n KERNEL /vmlinuz\n INITRD /initramfs\n APPEND ${commandLine}\n`,
        }
      : {}),
    vmlinuz: await readFile(disk.kernel),
    initramfs: await readFile(disk.initramfs),
    greeting,
  });
  const partitionBytes = await partitionSize(disk);
  await writeFile(
    raw,
    partitionTable(
      bios ? await readFile(join(tools, "usr/lib/syslinux/mbr/mbr.bin")) : Buffer.alloc(0),
      partitionBytes,
    ),
  );
  await truncate(raw, partitionStart + partitionBytes);
  const image = `${raw}@@${partitionStart}`;
  const sectors = String(partitionBytes / sectorBytes);
  const geometry = ["-h", "255", "-s", "63", "-H", String(partitionStart / sectorBytes), "-T", sectors];
  await runCommand("mformat", ["-i", image, ...geometry, "-c", "4", "-v", "DEMO", "::"], { env });
  const names = await readdir(content);
  await runCommand("mcopy", ["-i", image, "-s", ...names.map((name) => join(content, name)), "::/"], { env });
  if (bios) await runCommand("syslinux", ["-t", String(partitionStart), "--install", raw], { env });
}

async function layOut(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

async function partitionSize({ kernel, initramfs }: BootDisk): Promise<number> {
  let bytes = 3 * mebibyte;
  for (const path of [kernel, initramfs]) {
    const file = await open(path);
    bytes += (await file.stat()).size;
    await file.close();
  }
  return Math.ceil(bytes / mebibyte) * mebibyte;
}

/** A DOS partition table with one active EFI system partition, after the code that starts it. */
function partitionTable(code: Buffer, partitionBytes: number): Buffer {
  const sector = Buffer.alloc(sectorBytes);
  code.copy(sector, 0, 0, 440);
  sector.writeUInt32LE(0x56_ab_1a_b1, 440);
  const entry = sector.subarray(446);
  entry.set([0x80, 0x20, 0x21, 0x00, 0xef, 0xfe, 0xff, 0xff]);
  entry.writeUInt32LE(partitionStart / sectorBytes, 8);
  entry.writeUInt32LE(partitionBytes / sectorBytes, 12);
  sector.set([0x55, 0xaa], 510);
  return sector;
}
