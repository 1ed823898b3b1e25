import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runCommand } from "../run-command.ts";
import { makeBootDisk } from "./boot-disk.ts";
import { openPackageSource } from "./debian-packages.ts";
import { demoProfiles, hostArchitecture, type DemoArchitecture } from "./demo-architecture.ts";
import { guestAgentFiles } from "./guest-agent.ts";
import { makeInitramfs } from "./initramfs.ts";
import {
  dhcpScript,
  initScript,
  passwordScript,
  powerButtonScript,
  powerLineScript,
  shutdownScript,
  uptimeScript,
} from "./init-script.ts";

export interface DemoGuestOptions {
  readonly architecture: DemoArchitecture;
  /** With QEMU's guest agent. */
  readonly agent: boolean;
}

/** Where the parts of a built guest lie. */
export interface DemoGuest {
  readonly folder: string;
  readonly kernel: string;
  readonly initramfs: string;
  /** A disk that starts the same guest by itself. */
  readonly disk: string;
}

/** Goes up whenever the recipe changes in a way that the scripts and tables below do not show. */
const recipeVersion = 2;

/**
 * Builds a guest that boots in seconds under software emulation: Debian's kernel and an initramfs with busybox and the
 * drivers it needs, as files and as a disk. Made once per recipe and kept below `cacheDir`; a build that is interrupted
 * leaves nothing half done there.
 */
export async function buildDemoGuest(
  options: DemoGuestOptions,
  cacheDir: string,
  progress: (step: string) => void,
): Promise<DemoGuest> {
  const { architecture, agent } = options;
  const folder = join(cacheDir, `${architecture}${agent ? "-agent" : ""}-${recipeOf(options)}`);
  await buildOnce(folder, async (work, result) => {
    const profile = demoProfiles[architecture];
    const guestPackages = await openPackageSource({ architecture, cacheDir, workDir: work });
    const hostPackages = await openPackageSource({ architecture: hostArchitecture(), cacheDir, workDir: work });
    const root = join(work, "root");
    progress(`download Debian's kernel and busybox for ${architecture}`);
    await guestPackages.unpack([await guestPackages.resolveMetaPackage(profile.kernelPackage), "busybox-static"], root);
    if (agent) progress(`download the guest agent for ${architecture}`);
    const agentFiles = agent ? await guestAgentFiles(architecture, guestPackages, join(work, "agent")) : [];
    progress(`pack the guest for ${architecture}`);
    const [kernel, initramfs] = [join(result, "vmlinuz"), join(result, "initramfs")];
    await moveKernel(root, kernel);
    await writeFile(initramfs, await makeInitramfs(architecture, root, agentFiles));
    const disk = { profile, kernel, initramfs, guestPackages, hostPackages, workDir: work };
    await makeBootDisk(disk, join(result, "boot.qcow2"));
  });
  return {
    folder,
    kernel: join(folder, "vmlinuz"),
    initramfs: join(folder, "initramfs"),
    disk: join(folder, "boot.qcow2"),
  };
}

const dataDiskGreeting = "These words come from the guest's own disk.\n";

/** A small disk with a file to read, for a guest of any architecture. */
export async function buildDataDisk(cacheDir: string): Promise<string> {
  const folder = join(cacheDir, `data-${recipeVersion}`);
  await buildOnce(folder, async (work, result) => {
    const content = join(work, "content");
    const raw = join(work, "disk.raw");
    await mkdir(content);
    await writeFile(join(content, "greeting"), dataDiskGreeting);
    await runCommand("mke2fs", ["-q", "-t", "ext4", "-O", "^has_journal", "-L", "demo", "-d", content, raw, "8M"], {
      env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
    });
    await runCommand("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", "-c", raw, join(result, "disk.qcow2")]);
  });
  return join(folder, "disk.qcow2");
}

/** Two builds at a time do no harm: the first result stays. */
async function buildOnce(folder: string, build: (work: string, result: string) => Promise<void>): Promise<void> {
  if (await exists(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  try {
    const result = join(work, "result");
    await mkdir(result);
    await build(work, result);
    await rename(result, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function exists(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length > 0;
}

function recipeOf({ architecture }: DemoGuestOptions): string {
  const scripts = [
    initScript,
    passwordScript,
    powerButtonScript,
    powerLineScript,
    shutdownScript,
    dhcpScript,
    uptimeScript,
  ];
  const parts = [recipeVersion, demoProfiles[architecture], ...scripts];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);
}

async function moveKernel(root: string, target: string): Promise<void> {
  const kernel = (await readdir(join(root, "boot"))).find((file) => file.startsWith("vmlinuz-"));
  await rename(join(root, "boot", kernel ?? "vmlinuz"), target);
}
