import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * What libvirt has found out about an emulator costs seconds to find out again, so launchers of one node share it. The
 * files are libvirt's; it checks itself whether one still fits the emulator, the kernel and libvirt's own version.
 */
export async function copyCapabilities(from: string, to: string): Promise<void> {
  const names = (await readdir(from).catch(() => [])).filter((name) => name.endsWith(".xml"));
  if (names.length > 0) await mkdir(to, { recursive: true });
  for (const name of names) {
    const text = await readFile(join(from, name), "utf8");
    if (isInstalled(text)) await place(text, to, name);
  }
}

/** What was found by a link of a daemon's own is of use to nobody else. */
function isInstalled(capabilities: string): boolean {
  return /<emulator>\/usr\//.test(capabilities);
}

async function place(text: string, directory: string, name: string): Promise<void> {
  // Renamed when complete, because another launcher may read it at the same moment.
  const draft = join(directory, `${name}.${process.pid}`);
  try {
    // libvirt writes for itself alone; there is nothing secret in it.
    await writeFile(draft, text, { mode: 0o644 });
    await rename(draft, join(directory, name));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
