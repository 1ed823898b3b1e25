import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import { listProcesses } from "@polyvirt/host";
import { bootSectorImage, describeStackConformance, type StackUnderTest } from "@polyvirt/stack/conformance";
import { createQemuStack } from "./qemu-stack.ts";

async function makeStack(): Promise<StackUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "qemu-"));
  const image = join(directory, "disk.img");
  await writeFile(image, bootSectorImage());
  const domain = bootSectorDomain(directory, image);
  return {
    stack: createQemuStack({ clock: systemClock, logger: silentLogger, scratchDirectory: directory }),
    domain,
    brokenDomain: bootSectorDomain(directory, join(directory, "missing.img")),
    refusedDomain: { domain: { ...domain, blkiotune: { weight: 100 } }, path: "blkiotune" },
    capabilityTarget: { architecture: "amd64", virtType: "qemu" },
    async crashVmm() {
      const qemu = listProcesses().find(
        (entry) => entry.parent === process.pid && entry.command.startsWith("qemu-system"),
      );
      if (qemu === undefined) throw new Error("no QEMU is running");
      process.kill(qemu.pid, "SIGKILL");
    },
    dispose: () => rm(directory, { recursive: true }),
  };
}

function bootSectorDomain(directory: string, image: string): Domain {
  return {
    type: "qemu",
    name: "default_conformance",
    memory: { value: 32, unit: "MiB" },
    vcpu: { value: 1 },
    os: { type: { value: "hvm", arch: "x86_64", machine: "q35" } },
    features: { acpi: {} },
    devices: {
      disks: [
        {
          type: "file",
          device: "disk",
          driver: { name: "qemu", type: "raw" },
          source: { file: image },
          target: { dev: "vda", bus: "virtio" },
          alias: { name: "ua-root" },
        },
      ],
      serials: [
        {
          type: "unix",
          sources: [{ mode: "bind", path: join(directory, "serial0") }],
          log: { file: join(directory, "serial0.log"), append: "on" },
          target: { port: "0" },
        },
      ],
      graphics: [{ type: "vnc", socket: join(directory, "vnc") }],
      videos: [{ model: { type: "vga", vram: 16_384, heads: 1 } }],
      memballoon: { model: "virtio" },
      rngs: [{ model: "virtio", backend: { model: "random", value: "/dev/urandom" } }],
    },
  };
}

describeStackConformance("qemu", makeStack, { describe, it });
