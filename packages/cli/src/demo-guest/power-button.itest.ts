/** Every demo guest ends by itself when its power button is pressed, whatever that is on its machine. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, systemClock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import type { Stack } from "@polyvirt/stack";
import { createQemuStack } from "@polyvirt/stack-qemu";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { buildDemoGuest, type DemoGuest } from "./build-demo-guest.ts";
import { demoArchitectures, demoProfiles, type DemoArchitecture } from "./demo-architecture.ts";
import { demoCacheDir } from "./demo-images.ts";

const machines = {
  amd64: { arch: "x86_64", machine: "q35" },
  arm64: { arch: "aarch64", machine: "virt", cpu: "cortex-a57" },
  s390x: { arch: "s390x", machine: "s390-ccw-virtio", serial: "sclp-serial" },
} as const satisfies Record<DemoArchitecture, object>;

describe("the power button of a demo guest", () => {
  let folder: string;
  let stack: Stack;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "button-"));
    stack = createQemuStack({ clock: systemClock, logger: silentLogger, scratchDirectory: folder });
  });
  afterEach(async () => {
    await stack.close();
    await rm(folder, { recursive: true });
  });

  it.each(demoArchitectures)(
    "ends the guest for %s in seconds",
    async (architecture) => {
      const guest = await buildDemoGuest({ architecture, agent: false }, demoCacheDir(process.env), () => {});
      await stack.lifecycle.start(domainOf(architecture, guest, folder));
      const said = (): Promise<string> => readFile(join(folder, "serial.log"), "utf8").catch(() => "");
      await vi.waitUntil(async () => (await said()).includes("guest is ready"), { timeout: 120_000, interval: 100 });
      await stack.lifecycle.shutdown();
      const status = await vi.waitUntil(
        () => {
          const { status: seen } = stack.lifecycle.domain() ?? {};
          return seen?.state === "Shutoff" ? seen : undefined;
        },
        { timeout: 10_000, interval: 50 },
      );
      expect(status.reason).toBe("Shutdown");
    },
    600_000,
  );
});

function domainOf(architecture: DemoArchitecture, guest: DemoGuest, folder: string): Domain {
  const machine: { arch: string; machine: string; cpu?: string; serial?: string } = machines[architecture];
  return {
    type: "qemu",
    name: "button",
    memory: { value: 256, unit: "MiB" },
    os: {
      type: { value: "hvm", arch: machine.arch, machine: machine.machine },
      kernel: guest.kernel,
      initrd: guest.initramfs,
      cmdline: demoProfiles[architecture].kernelArguments,
    },
    ...(architecture === "amd64" ? { features: { acpi: {} } } : {}),
    ...(machine.cpu === undefined ? {} : { cpu: { mode: "custom", model: { value: machine.cpu } } }),
    devices: {
      serials: [
        {
          type: "file",
          sources: [{ path: join(folder, "serial.log") }],
          target: machine.serial === undefined ? { port: "0" } : { type: machine.serial, port: "0" },
        },
      ],
    },
  };
}
