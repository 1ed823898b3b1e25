import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { Domain } from "@polyvirt/domain";
import { describeStackConformance, type StackUnderTest } from "../conformance/index.ts";
import { createFakeStack } from "./fake-stack.ts";

async function makeStack(): Promise<StackUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "fake-"));
  const image = join(directory, "disk.img");
  await writeFile(image, "");
  const stack = createFakeStack();
  const machine = (name: string): Domain => ({
    type: "test",
    name: "default_fake",
    devices: {
      disks: [{ source: { file: image }, target: { dev: "vda" } }],
      serials: [
        { type: "unix", sources: [{ path: join(directory, name) }], log: { file: join(directory, `${name}.log`) } },
      ],
      graphics: [{ type: "vnc", socket: join(directory, `${name}-vnc`) }],
    },
  });
  const domain = machine("source");
  return {
    stack,
    domain,
    brokenDomain: { ...domain, devices: { ...domain.devices, disks: [{ source: { file: "/nowhere" } }] } },
    refusedDomain: { domain: { ...domain, type: "xen" }, path: "type" },
    migration: {
      target: createFakeStack(),
      targetDomain: machine("target"),
      socketPath: join(directory, "move"),
    },
    capabilityTarget: { architecture: "amd64", virtType: "qemu" },
    crashVmm: async () => stack.crash("the test did it"),
    dispose: () => rm(directory, { recursive: true }),
  };
}

describeStackConformance("fake", makeStack, { describe, it });
