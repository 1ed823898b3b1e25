import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { configurationFiles, type DaemonLayout } from "./daemon-layout.ts";

/** In the order in which they are looked for: the daemon for QEMU alone is what newer libvirts have. */
const daemonPrograms = ["/usr/sbin/virtqemud", "/usr/sbin/libvirtd"];

/** Others than QEMU's (networks, storage pools, …) cost time and memory and are of no use to a launcher. */
const driver = "libvirt/connection-driver/libvirt_driver_qemu.so";

/** Programs that libvirt itself runs for a machine, where they are installed. */
const helperPrograms = [
  "/usr/bin/swtpm",
  "/usr/bin/swtpm_setup",
  "/usr/bin/swtpm_ioctl",
  // A new TPM gets certificates, which these make.
  "/usr/bin/swtpm_localca",
  "/usr/bin/swtpm_cert",
  "/usr/bin/certtool",
  "/usr/bin/qemu-img",
];

export async function findDaemon(): Promise<string | undefined> {
  return firstExecutable(daemonPrograms);
}

/** Makes everything that the daemon wants to find when it starts. */
export async function prepareDaemon(layout: DaemonLayout, programs: readonly string[]): Promise<void> {
  const directories = [layout.runtime, layout.data, layout.drivers, layout.programs, layout.capabilities];
  for (const directory of directories) await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const [file, text] of Object.entries(configurationFiles(layout, randomUUID()))) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text);
  }
  const found = await firstExecutable((await libraryDirectories()).map((directory) => join(directory, driver)));
  if (found !== undefined) await link(found, layout.drivers);
  for (const program of [...helperPrograms, ...programs]) {
    if (await isExecutable(program)) await link(program, layout.programs);
  }
}

/** `/usr/lib64`, `/usr/lib/x86_64-linux-gnu` and their like. */
async function libraryDirectories(): Promise<string[]> {
  const entries = await readdir("/usr/lib").catch(() => []);
  return [
    "/usr/lib64",
    "/usr/lib",
    ...entries.filter((name) => name.endsWith("-linux-gnu")).map((name) => `/usr/lib/${name}`),
  ];
}

async function link(target: string, directory: string): Promise<void> {
  await symlink(target, join(directory, basename(target))).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isExecutable(path)) return path;
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  // A library need only be read, and a link to nowhere can neither.
  const mode = path.endsWith(".so") ? constants.R_OK : constants.X_OK;
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
