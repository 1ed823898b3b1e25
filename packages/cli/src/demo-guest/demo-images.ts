import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { openOciStore } from "@polyvirt/embedded";
import type { DataDir } from "../data-dir.ts";
import { buildDataDisk, buildDemoGuest, type DemoGuest, type DemoGuestOptions } from "./build-demo-guest.ts";
import type { DemoArchitecture } from "./demo-architecture.ts";

interface DemoImageOptions {
  readonly architectures: readonly DemoArchitecture[];
  /** Also build the guests with QEMU's guest agent. */
  readonly agent: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const dataDiskImage = "polyvirt.local/demo-disk:1";
/** Files of every guest image: it serves as container disk and as kernel-boot container. */
const paths = { disk: "disk/demo.qcow2", kernel: "boot/vmlinuz", initramfs: "boot/initramfs" } as const;

/**
 * Builds the demo guests unless they are there, and puts them into the cluster's image store: each under a name with its
 * architecture, and all of them under one name that means the guest's architecture. Returns the references.
 */
export async function addDemoImages(
  dataDir: DataDir,
  { architectures, agent, env }: DemoImageOptions,
  note: (step: string) => void,
): Promise<string[]> {
  const cacheDir = demoCacheDir(env);
  const references = new Set<string>();
  for (const architecture of architectures) {
    for (const withAgent of agent ? [false, true] : [false]) {
      const options = { architecture, agent: withAgent };
      const guest = await buildDemoGuest(options, cacheDir, note);
      for (const reference of await addGuest(dataDir, guest, options, note)) references.add(reference);
    }
  }
  const store = openOciStore(dataDir.ociStore);
  if (!(await store.list()).includes(dataDiskImage)) {
    const content = await readFile(await buildDataDisk(cacheDir));
    await store.add([dataDiskImage], [{ path: "disk/demo.qcow2", content }]);
  }
  return [...references, dataDiskImage];
}

async function addGuest(
  dataDir: DataDir,
  guest: DemoGuest,
  { architecture, agent }: DemoGuestOptions,
  note: (step: string) => void,
): Promise<string[]> {
  const store = openOciStore(dataDir.ociStore);
  const name = `polyvirt.local/demo-guest${agent ? "-agent" : ""}`;
  const references = [`${name}-${architecture}:1`, `${name}:1`, ...(agent ? [] : ["polyvirt.local/demo-kernel:1"])];
  const platform = { os: "linux", architecture };
  const digestFile = join(guest.folder, "manifest-digest");
  const wanted = await readFile(digestFile, "utf8").catch(() => undefined);
  const present = await Promise.all(
    references.map((reference) => store.resolve(reference, platform).catch(() => undefined)),
  );
  if (wanted !== undefined && present.every((digest) => digest === wanted)) return references;
  note(`add the ${architecture} guest to the image store`);
  const files = [
    { path: paths.disk, content: await readFile(guest.disk) },
    { path: paths.kernel, content: await readFile(guest.kernel) },
    { path: paths.initramfs, content: await readFile(guest.initramfs) },
  ];
  await writeFile(digestFile, await store.add(references, files, platform));
  return references;
}

/** Built guests outlive the cluster that they were built for. */
export function demoCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  const base = process.getuid?.() === 0 ? "/var/cache" : (env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"));
  return join(base, "polyvirt/demo-guests");
}
