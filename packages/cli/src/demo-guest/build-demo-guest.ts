import { mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { runCommand } from "../run-command.ts";
import { writeCpio, type CpioEntry } from "./cpio.ts";
import { fetchDebianPackages, resolveMetaPackage } from "./debian-packages.ts";
import { initScript, powerButtonScript } from "./init-script.ts";
import { resolveModules } from "./kernel-modules.ts";

/** Where the parts of a built guest lie. */
export interface DemoGuest {
  readonly kernel: string;
  readonly initramfs: string;
  readonly disk: string;
}

const kernelPackage = "linux-image-cloud-amd64";
const drivers = [
  "virtio_pci",
  "virtio_blk",
  "virtio_net",
  "virtio_console",
  "virtio_rng",
  "virtio_balloon",
  "ext4",
  "evdev",
  "button",
];
const greeting = "These words come from the guest's own disk.\n";

/**
 * Builds a guest that boots in seconds under software emulation: Debian's cloud kernel, an initramfs with busybox and the
 * drivers it needs, and a small disk. Made once per `outDir`; a build that is interrupted leaves nothing half done there.
 */
export async function buildDemoGuest(outDir: string, progress: (step: string) => void): Promise<DemoGuest> {
  const guest = {
    kernel: join(outDir, "vmlinuz"),
    initramfs: join(outDir, "initramfs"),
    disk: join(outDir, "disk.qcow2"),
  };
  if (await isBuilt(outDir)) return guest;
  await mkdir(dirname(outDir), { recursive: true });
  const work = await mkdtemp(`${outDir}.`);
  try {
    const root = join(work, "root");
    progress("download Debian's cloud kernel and busybox");
    await fetchDebianPackages([await resolveMetaPackage(kernelPackage), "busybox-static"], work, root);
    progress("pack the initramfs and the disk");
    const result = join(work, "result");
    await mkdir(result);
    await copyKernel(root, join(result, "vmlinuz"));
    await writeFile(join(result, "initramfs"), await makeInitramfs(root));
    await makeDisk(work, join(result, "disk.qcow2"));
    await rm(outDir, { recursive: true, force: true });
    await rename(result, outDir);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return guest;
}

async function isBuilt(outDir: string): Promise<boolean> {
  const present: string[] = await readdir(outDir).catch(() => []);
  return ["vmlinuz", "initramfs", "disk.qcow2"].every((file) => present.includes(file));
}

async function copyKernel(root: string, target: string): Promise<void> {
  const kernel = (await readdir(join(root, "boot"))).find((file) => file.startsWith("vmlinuz-"));
  await rename(join(root, "boot", kernel ?? "vmlinuz"), target);
}

async function makeInitramfs(root: string): Promise<Buffer> {
  const modulesRoot = join(root, "lib/modules");
  const release = (await readdir(modulesRoot))[0] ?? "";
  const modules = await resolveModules(join(modulesRoot, release), drivers);
  const entries: CpioEntry[] = [
    ...["bin", "dev", "etc", "etc/acpi", "etc/acpi/PWRF", "modules", "mnt", "proc", "root", "run", "sys", "tmp"].map(
      (path) => ({ type: "directory", path }) as const,
    ),
    executable("bin/busybox", await readFile(await findBusybox(root))),
    executable("init", Buffer.from(initScript)),
    executable("etc/acpi/PWRF/00000080", Buffer.from(powerButtonScript)),
    plainFile("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"),
    plainFile("etc/os-release", 'ID=polyvirt-demo\nPRETTY_NAME="Polyvirt demo guest"\n'),
    plainFile("modules/order", modules.map((module) => `${basename(module.path)}\n`).join("")),
  ];
  for (const module of modules) {
    entries.push({
      type: "file",
      path: `modules/${basename(module.path)}`,
      content: await readFile(module.path),
      mode: 0o644,
    });
  }
  return gzipSync(writeCpio(entries), { level: 9 });
}

async function findBusybox(root: string): Promise<string> {
  for (const folder of ["bin", "usr/bin"]) {
    const files: string[] = await readdir(join(root, folder)).catch(() => []);
    if (files.includes("busybox")) return join(root, folder, "busybox");
  }
  return join(root, "bin/busybox");
}

async function makeDisk(work: string, target: string): Promise<void> {
  const content = join(work, "disk-content");
  const raw = join(work, "disk.raw");
  await mkdir(content);
  await writeFile(join(content, "greeting"), greeting);
  await runCommand("mke2fs", ["-q", "-t", "ext4", "-O", "^has_journal", "-L", "demo", "-d", content, raw, "8M"], {
    env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
  });
  await runCommand("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", "-c", raw, target]);
}

function executable(path: string, content: Uint8Array): CpioEntry {
  return { type: "file", path, content, mode: 0o755 };
}

function plainFile(path: string, text: string): CpioEntry {
  return { type: "file", path, content: Buffer.from(text), mode: 0o644 };
}
