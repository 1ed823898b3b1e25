import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Domain } from "@polyvirt/domain";
import type { Stack } from "../contract.ts";
import { bootSectorImage } from "./boot-sector.ts";
import type { StackUnderTest } from "./harness.ts";

interface SampleChoices {
  /** Makes a stack with a folder of its own for files that it needs. */
  readonly makeStack: (scratchDirectory: string) => Stack;
  readonly crashVmm: StackUnderTest["crashVmm"];
  readonly refuse: (domain: Domain) => NonNullable<StackUnderTest["refusedDomain"]>;
  /** Memory of the machine; more of it makes a migration at a given speed last longer. */
  readonly memoryMib?: number;
}

/** What a stack that runs x86 machines under emulation needs to be examined: machines with the boot sector as guest. */
export async function bootSectorSamples(choices: SampleChoices): Promise<StackUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "stack-"));
  const image = join(directory, "disk.img");
  const spare = join(directory, "spare.img");
  for (const folder of ["target", "scratch", "target-scratch"]) await mkdir(join(directory, folder));
  await writeFile(image, bootSectorImage());
  await writeFile(spare, Buffer.alloc(1024 * 1024));
  const memoryMib = choices.memoryMib ?? 32;
  const machine = (sockets: string, disk: string) => bootSectorDomain(sockets, disk, memoryMib);
  const domain = machine(directory, image);
  return {
    stack: choices.makeStack(join(directory, "scratch")),
    domain,
    brokenDomain: machine(directory, join(directory, "missing.img")),
    refusedDomain: choices.refuse(domain),
    hotplug: {
      domain: roomyDomain(domain, memoryMib),
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
      memoryBytes: (memoryMib + 128) * 1024 * 1024,
    },
    migration: {
      target: choices.makeStack(join(directory, "target-scratch")),
      targetDomain: machine(join(directory, "target"), image),
      socketPath: join(directory, "move"),
    },
    capabilityTarget: { architecture: "amd64", virtType: "qemu" },
    crashVmm: choices.crashVmm,
    dispose: () => rm(directory, { recursive: true }),
  };
}

/** With ports, CPU sockets and memory slots that are still empty. */
function roomyDomain(domain: Domain, memoryMib: number): Domain {
  return {
    ...domain,
    vcpu: { value: 4, current: 1 },
    cpu: { numa: { cells: [{ id: 0, cpus: "0-3", memory: memoryMib, unit: "MiB" }] } },
    maxMemory: { value: memoryMib + 512, unit: "MiB", slots: 4 },
    devices: {
      ...domain.devices,
      controllers: [
        { type: "scsi", index: 0, model: "virtio-scsi" },
        { type: "pci", index: 0, model: "pcie-root" },
        // Some stacks put everything that the machine begins with into a port as well.
        ...Array.from({ length: 10 }, (_, port) => ({ type: "pci", index: port + 1, model: "pcie-root-port" })),
      ],
    },
  };
}

function bootSectorDomain(sockets: string, image: string, memoryMib: number): Domain {
  return {
    type: "qemu",
    name: "default_conformance",
    memory: { value: memoryMib, unit: "MiB" },
    vcpu: { value: 1 },
    os: { type: { value: "hvm", arch: "x86_64", machine: "q35" } },
    features: { acpi: {} },
    devices: {
      disks: [
        {
          type: "file",
          device: "disk",
          driver: { name: "qemu", type: "raw", cache: "none" },
          source: { file: image },
          target: { dev: "vda", bus: "virtio" },
          alias: { name: "ua-root" },
        },
      ],
      serials: [
        {
          type: "unix",
          sources: [{ mode: "bind", path: join(sockets, "serial0") }],
          log: { file: join(sockets, "serial0.log"), append: "on" },
          target: { port: "0" },
        },
      ],
      graphics: [{ type: "vnc", socket: join(sockets, "vnc") }],
      videos: [{ model: { type: "vga", vram: 16_384, heads: 1 } }],
      memballoon: { model: "virtio" },
      panics: [{ model: "isa" }],
      rngs: [{ model: "virtio", backend: { model: "random", value: "/dev/urandom" } }],
    },
  };
}
