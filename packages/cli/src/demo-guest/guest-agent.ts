import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { errors } from "../errors.ts";
import type { CpioEntry } from "./cpio.ts";
import { demoProfiles, type DemoArchitecture } from "./demo-architecture.ts";
import type { PackageSource } from "./debian-packages.ts";

const packages = ["qemu-guest-agent", "libc6", "libglib2.0-0", "libnuma1", "libudev1", "liburing2", "libpcre2-8-0"];
const libraries = [
  "libc.so.6",
  "libm.so.6",
  "libglib-2.0.so.0",
  "libgmodule-2.0.so.0",
  "libnuma.so.1",
  "libudev.so.1",
  "liburing.so.2",
  "libpcre2-8.so.0",
];

/** QEMU's guest agent with the libraries that it is linked with; everything else of the guest is static. */
export async function guestAgentFiles(
  architecture: DemoArchitecture,
  source: PackageSource,
  root: string,
): Promise<CpioEntry[]> {
  const { triplet, loader } = demoProfiles[architecture];
  await source.unpack(packages, root);
  const libraryFolders = [join(root, "lib", triplet), join(root, "usr/lib", triplet)];
  const entries: CpioEntry[] = [
    { type: "directory", path: `lib/${triplet}` },
    ...(loader.startsWith("lib64/") ? [{ type: "directory", path: "lib64" } as const] : []),
    await program("usr/sbin/qemu-ga", [join(root, "usr/sbin/qemu-ga")]),
    await program(
      loader,
      libraryFolders.map((folder) => join(folder, loader.slice(loader.lastIndexOf("/") + 1))),
    ),
  ];
  for (const library of libraries) {
    entries.push(
      await program(
        `lib/${triplet}/${library}`,
        libraryFolders.map((folder) => join(folder, library)),
      ),
    );
  }
  return entries;
}

async function program(path: string, candidates: readonly string[]): Promise<CpioEntry> {
  for (const candidate of candidates) {
    const real = await realpath(candidate).catch(() => undefined);
    if (real !== undefined) return { type: "file", path, content: await readFile(real), mode: 0o755 };
  }
  throw errors.DemoGuestPackageMissing(`pack the guest agent: Debian's packages have no ${path}`, { fields: { path } });
}
