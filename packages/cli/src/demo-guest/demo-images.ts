import { readFile } from "node:fs/promises";
import { openOciStore } from "@polyvirt/embedded";
import type { DataDir } from "../data-dir.ts";
import { buildDemoGuest } from "./build-demo-guest.ts";

/** The tag changes whenever what the images hold changes, so that an old cache is never taken for a new guest. */
const demoImages = { kernel: "polyvirt.local/demo-kernel:1", disk: "polyvirt.local/demo-disk:1" } as const;

/** Builds the demo guest unless it is there, and puts it into the cluster's image store. Returns the references. */
export async function addDemoImages(dataDir: DataDir, note: (step: string) => void): Promise<string[]> {
  const store = openOciStore(dataDir.ociStore);
  const present = await store.list();
  const references = Object.values(demoImages);
  if (references.every((reference) => present.includes(reference))) return references;
  const guest = await buildDemoGuest(dataDir.guestCache, note);
  note("add the images to the store");
  const platform = { os: "linux", architecture: "amd64" };
  const kernelFiles = [
    { path: "boot/vmlinuz", content: await readFile(guest.kernel) },
    { path: "boot/initramfs", content: await readFile(guest.initramfs) },
  ];
  await store.add(demoImages.kernel, kernelFiles, platform);
  await store.add(demoImages.disk, [{ path: "disk/demo.qcow2", content: await readFile(guest.disk) }], platform);
  return references;
}
