import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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
  await mkdir(join(directory, "target"));
  const spare = join(directory, "spare.img");
  await writeFile(image, bootSectorImage());
  await writeFile(spare, Buffer.alloc(1024 * 1024));
  const domain = bootSectorDomain(directory, image);
  return {
    stack: createQemuStack({ clock: systemClock, logger: silentLogger, scratchDirectory: directory }),
    domain,
    brokenDomain: bootSectorDomain(directory, join(directory, "missing.img")),
    refusedDomain: { domain: { ...domain, blkiotune: { weight: 100 } }, path: "blkiotune" },
    hotplug: {
      domain: roomyDomain(domain),
      disk: {
        type: "file",
        device: "disk",
        driver: { name: "qemu", type: "raw" },
        source: { file: spare },
        target: { dev: "sda", bus: "scsi" },
        alias: { name: "ua-spare" },
      },
      networkCard: { type: "user", model: { type: "virtio" }, alias: { name: "ua-net" } },
      vcpus: 3,
      memoryBytes: 160 * 1024 * 1024,
    },
    migration: {
      target: createQemuStack({ clock: systemClock, logger: silentLogger, scratchDirectory: directory }),
      targetDomain: bootSectorDomain(join(directory, "target"), image),
      socketPath: join(directory, "move"),
    },
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

/** With ports, CPU sockets and memory slots that are still empty. */
function roomyDomain(domain: Domain): Domain {
  return {
    ...domain,
    vcpu: { value: 4, current: 1 },
    maxMemory: { value: 512, unit: "MiB", slots: 4 },
    devices: {
      ...domain.devices,
      controllers: [
        { type: "scsi", index: 0, model: "virtio-scsi" },
        { type: "pci", index: 1, model: "pcie-root-port" },
      ],
    },
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
