import { chmod, copyFile, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * What libvirt has found out about an emulator costs seconds to find out again, so launchers of one node share it. The
 * files are libvirt's; it checks itself whether one still fits the emulator, the kernel and libvirt's own version.
 */
export async function copyCapabilities(from: string, to: string): Promise<void> {
  const names = (await readdir(from).catch(() => [])).filter((name) => name.endsWith(".xml"));
  if (names.length > 0) await mkdir(to, { recursive: true });
  for (const name of names) {
    // Renamed when complete, because another launcher may read it at the same moment.
    const draft = join(to, `${name}.${process.pid}`);
    try {
      await copyFile(join(from, name), draft);
      // libvirt writes for itself alone; there is nothing secret in it.
      await chmod(draft, 0o644);
      await rename(draft, join(to, name));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}
