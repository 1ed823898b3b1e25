import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import { bootId } from "@polyvirt/host";
import type { Architecture } from "@polyvirt/hypervisor";
import { exportCapabilities, type Stack } from "@polyvirt/stack";
import { probeHypervisor } from "@polyvirt/stack-qemu/hypervisor-probe";

interface ExportOptions {
  readonly directory: string;
  /** The hypervisor's device, without `/dev/`. */
  readonly device: string;
  /** What machines are called that use it. */
  readonly virtType: string;
  readonly hostArchitecture: Architecture;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly createStack: (scratchDirectory: string) => Stack;
}

/** Emulators by the architecture of the guests that they run. */
const emulators: Readonly<Record<Architecture, string>> = {
  amd64: "/usr/bin/qemu-system-x86_64",
  arm64: "/usr/bin/qemu-system-aarch64",
  s390x: "/usr/bin/qemu-system-s390x",
};
const softwareEmulation = "qemu";

/**
 * Writes what the stack can do on this node, one file for each architecture whose emulator is there, and whether the
 * hypervisor works, which a guest finds out. Files of architectures that are there no more go away. Returns the names.
 */
export async function exportNodeCapabilities(options: ExportOptions): Promise<string[]> {
  const { directory, device, hostArchitecture, clock, logger } = options;
  await mkdir(directory, { recursive: true });
  const probe = { clock, device, bootId: bootId(), directory, hostArchitecture: process.arch };
  const hypervisorDevice = await probeHypervisor(probe);
  logger.info("hypervisor probed", { ...hypervisorDevice });
  const scratch = await mkdtemp(join(tmpdir(), "export-"));
  const stack = options.createStack(scratch);
  try {
    // Of the table's own keys.
    const architectures = (Object.keys(emulators) as Architecture[]).filter((name) => existsSync(emulators[name]));
    const written: string[] = [];
    for (const architecture of architectures) {
      const accelerated = architecture === hostArchitecture && hypervisorDevice.usable;
      const target = { architecture, virtType: accelerated ? options.virtType : softwareEmulation };
      try {
        const exported = await exportCapabilities(stack, target, hypervisorDevice);
        const file = `capabilities-${architecture}.json`;
        await writeAtomically(join(directory, file), `${JSON.stringify(exported, undefined, 2)}\n`);
        written.push(file);
      } catch (error) {
        // One emulator that is broken must not hide what the others can do.
        logger.error("cannot export capabilities", { architecture, error: describeError(error) });
      }
    }
    await removeOthers(directory, written);
    return written;
  } finally {
    await stack.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function removeOthers(directory: string, written: readonly string[]): Promise<void> {
  const stale = (await readdir(directory)).filter(
    (name) => /^capabilities-.*\.json$/.test(name) && !written.includes(name),
  );
  for (const name of stale) await rm(join(directory, name));
}

/** Readers see the old file or the new one. */
async function writeAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, file);
}
