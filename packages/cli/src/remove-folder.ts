import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { unmountBelow } from "@polyvirt/host";

/** Removes a folder of the cluster. A cluster process that was killed may have left things mounted there. */
export async function removeFolder(path: string): Promise<void> {
  if (existsSync(path)) unmountBelow(path);
  await rm(path, { recursive: true, force: true });
}
