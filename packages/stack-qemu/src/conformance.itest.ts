import { describe, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import { listProcesses } from "@polyvirt/host";
import { bootSectorSamples, describeStackConformance } from "@polyvirt/stack/conformance";
import { createQemuStack } from "./qemu-stack.ts";

const makeStack = () =>
  bootSectorSamples({
    makeStack: (scratchDirectory) => createQemuStack({ clock: systemClock, logger: silentLogger, scratchDirectory }),
    refuse: (domain) => ({ domain: { ...domain, blkiotune: { weight: 100 } }, path: "blkiotune" }),
    async crashVmm() {
      const qemu = listProcesses().find(
        (entry) => entry.parent === process.pid && entry.command.startsWith("qemu-system"),
      );
      if (qemu === undefined) throw new Error("no QEMU is running");
      process.kill(qemu.pid, "SIGKILL");
    },
  });

describeStackConformance("qemu", makeStack, { describe, it });
