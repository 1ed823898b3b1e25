import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import { listProcesses } from "@polyvirt/host";
import { bootSectorSamples, describeStackConformance } from "@polyvirt/stack/conformance";
import { createLibvirtStack } from "./libvirt-stack.ts";

/** All tests of this file together ask an emulator for its capabilities once. */
const sharedCache = { directory: mkdtempSync(join(tmpdir(), "capabilities-")), writable: true };
afterAll(() => rmSync(sharedCache.directory, { recursive: true }));

const makeStack = () =>
  bootSectorSamples({
    makeStack: (scratchDirectory) =>
      createLibvirtStack({
        clock: systemClock,
        logger: silentLogger,
        scratchDirectory,
        sharedCache,
        hostName: basename(scratchDirectory),
      }),
    memoryMib: 1024,
    refuse: (domain) => ({ domain: { ...domain, $attributes: { colour: "blue" } }, path: "colour" }),
    async crashVmm() {
      // Adopted by this process, like everything that the daemon has started.
      const qemu = listProcesses().find(
        (entry) => entry.parent === process.pid && entry.command.startsWith("qemu-system") && entry.state !== "Z",
      );
      if (qemu === undefined) throw new Error("no QEMU is running");
      process.kill(qemu.pid, "SIGKILL");
    },
  });

const installed = existsSync("/usr/sbin/libvirtd") || existsSync("/usr/sbin/virtqemud");
describe.skipIf(!installed)("with a libvirt daemon (package libvirt-daemon)", () => {
  describeStackConformance("libvirt", makeStack, { describe, it });
});
