import type { Clock, Logger } from "@polyvirt/core";
import { probeQemuPostCopy, QemuAgent, serialConsole, type Stack } from "@polyvirt/stack";
import { QemuLifecycle } from "./lifecycle/qemu-lifecycle.ts";
import { qemuGraphics } from "./graphics.ts";
import { QemuProbe } from "./capabilities/qemu-probe.ts";
import { qemuCapabilities } from "./capabilities/qemu-capabilities.ts";
import { QemuLifecycleAgentChannel } from "./guest-agent/qemu-agent-channel.ts";
import { QemuHotplug } from "./hotplug/qemu-hotplug.ts";
import { QemuMigration } from "./migration/qemu-migration.ts";
import { qemuStats } from "./stats.ts";
import { spawnVmm } from "./process/vmm-process.ts";

/** QEMU's name for the architecture of this machine. */
function hostArchitecture(): string {
  const names: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };
  return names[process.arch] ?? process.arch;
}

export interface QemuStackDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Directory of this launcher's own, for files that live for a moment. */
  readonly scratchDirectory: string;
  /** Where state that outlives the launcher is kept, such as a persistent TPM's; by default it goes with the launcher. */
  readonly persistentDirectory?: string;
}

/** The stack that runs QEMU itself and speaks QMP with it. */
export function createQemuStack(dependencies: QemuStackDependencies): Stack {
  const { clock } = dependencies;
  const logger = dependencies.logger.with({ stack: "qemu" });
  const spawn = spawnVmm({ onStderr: (line) => logger.warn("QEMU", { line }) });
  const { scratchDirectory, persistentDirectory = scratchDirectory } = dependencies;
  const directories = { stateDirectory: scratchDirectory, persistentDirectory };
  const lifecycle = new QemuLifecycle({ clock, logger, spawn, directories });
  const probe = new QemuProbe({ clock, spawn });
  // What the kernel allows, it allows the emulators of all architectures alike.
  const postCopyEmulator = `qemu-system-${hostArchitecture()}`;
  return {
    name: "qemu",
    vmmName: "QEMU",
    // The one that runs knows best; asking another costs a process.
    vmmVersion: async () => lifecycle.monitorVersion() ?? (await probe.version(hostArchitecture())),
    capabilities: (target) => qemuCapabilities(probe, target),
    lifecycle,
    console: serialConsole((operation) => lifecycle.running(operation)),
    graphics: qemuGraphics(lifecycle, scratchDirectory),
    guestAgent: new QemuAgent(new QemuLifecycleAgentChannel({ lifecycle, clock }), clock),
    stats: qemuStats(lifecycle),
    hotplug: new QemuHotplug(lifecycle),
    migration: new QemuMigration(lifecycle, () => probeQemuPostCopy({ clock, command: [postCopyEmulator] })),
    close: () => lifecycle.kill(),
  };
}
