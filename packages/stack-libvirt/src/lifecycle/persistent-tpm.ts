import { lstat, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { Domain } from "@polyvirt/domain";
import { machineUuid } from "./machine-definition.ts";

/**
 * Lets libvirt keep the state of a TPM where it outlives the launcher. libvirt's own place for it goes with the launcher
 * and has the machine's id in its name, so a link there leads to the folder of the volume.
 */
export async function keepTpmState(
  definition: Domain,
  configDirectory: string,
  persistentDirectory: string | undefined,
): Promise<void> {
  const isKept = definition.devices?.tpms?.some(({ backend }) => backend?.persistentState === "yes") === true;
  if (!isKept || persistentDirectory === undefined) return;
  const states = join(configDirectory, "libvirt/qemu/swtpm");
  const link = join(states, machineUuid(definition));
  await mkdir(states, { recursive: true, mode: 0o700 });
  // Left by an earlier start of the same machine.
  if (await lstat(link).catch(() => undefined)) return;
  await symlink(join(persistentDirectory, "swtpm"), link);
}
