import { join } from "node:path";
import type { Clock, Logger } from "@polyvirt/core";
import type { SharedCache } from "./daemon/libvirt-daemon.ts";
import { QemuAgent, serialConsole, type Stack } from "@polyvirt/stack";
import { libvirtCapabilities } from "./capabilities/libvirt-capabilities.ts";
import { libvirtGraphics } from "./graphics.ts";
import { LibvirtAgentChannel } from "./guest-agent/libvirt-agent-channel.ts";
import { LibvirtHotplug } from "./hotplug/libvirt-hotplug.ts";
import { LibvirtLifecycle } from "./lifecycle/libvirt-lifecycle.ts";
import { emulatorFor } from "./lifecycle/machine-definition.ts";
import { LibvirtMigration } from "./migration/libvirt-migration.ts";
import { libvirtStats } from "./stats.ts";
import { qemuVersion } from "./qemu-version.ts";

export interface LibvirtStackDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Directory of this launcher's own, with a short name: sockets lie below it. */
  readonly scratchDirectory: string;
  /** Where state that outlives the launcher is kept, such as a persistent TPM's; by default it goes with the launcher. */
  readonly persistentDirectory?: string;
  readonly sharedCache?: SharedCache;
  /** A host name for this launcher alone, where several share one: libvirt moves no machine to a host of the same name. */
  readonly hostName?: string;
}

/** The stack that runs machines through libvirt, with a daemon of its own. */
export function createLibvirtStack(dependencies: LibvirtStackDependencies): Stack {
  const { clock, sharedCache, hostName, persistentDirectory } = dependencies;
  const logger = dependencies.logger.with({ stack: "libvirt" });
  const directory = join(dependencies.scratchDirectory, "lv");
  const daemon = { clock, logger, directory, sharedCache, hostName };
  const lifecycle = new LibvirtLifecycle({ ...daemon, persistentDirectory });
  return {
    name: "libvirt",
    vmmName: "QEMU",
    vmmVersion: () => qemuVersion(emulatorFor("x86_64")),
    capabilities: (target) => libvirtCapabilities(daemon, target),
    lifecycle,
    prepare: () => lifecycle.prepare(),
    console: serialConsole((operation) => lifecycle.running(operation)),
    graphics: libvirtGraphics(lifecycle),
    guestAgent: new QemuAgent(new LibvirtAgentChannel(lifecycle), clock),
    stats: libvirtStats(lifecycle),
    hotplug: new LibvirtHotplug(lifecycle),
    migration: new LibvirtMigration(lifecycle, clock),
    close: () => lifecycle.close(),
  };
}
