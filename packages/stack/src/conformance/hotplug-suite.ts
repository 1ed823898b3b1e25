import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import type { Hotplug } from "../hotplug.ts";
import type { Stack } from "../contract.ts";
import type { HotplugSamples, MakeStack, TestRunner } from "./harness.ts";
import type { EventLog } from "./event-log.ts";
import { examining } from "./lifecycle-suite.ts";

interface Plugged {
  readonly stack: Stack;
  readonly hotplug: Hotplug;
  readonly samples: HotplugSamples;
  readonly log: EventLog;
}

/** Starts the machine that has room for more; does nothing for a stack that cannot do this. */
function plugging(makeStack: MakeStack, body: (plugged: Plugged) => Promise<void>): () => Promise<void> {
  return examining(makeStack, async ({ stack, hotplug: samples, log }) => {
    if (stack.hotplug === undefined || samples === undefined) return;
    await stack.lifecycle.start(samples.domain);
    await log.status("Running");
    await body({ stack, hotplug: stack.hotplug, samples, log });
  });
}

const aliases = (stack: Stack, kind: "disks" | "interfaces"): (string | undefined)[] =>
  (stack.lifecycle.domain()?.definition.devices?.[kind] ?? []).map((device) => device.alias?.name);

export function hotplugSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "puts a disk in and takes it out, as often as wanted",
    plugging(makeStack, async ({ stack, hotplug, samples: { disk }, log }) => {
      for (const attempt of [1, 2]) {
        await hotplug.attachDisk(disk);
        assert.ok(aliases(stack, "disks").includes(disk.alias.name), `attempt ${attempt}`);
        log.forget();
        await hotplug.detachDisk(disk.alias.name);
        await log.find("deviceRemoved", (event) => event.alias === disk.alias.name);
        await settled(() => !aliases(stack, "disks").includes(disk.alias.name));
      }
    }),
  );

  it(
    "refuses a second device of the same name, and a disk that is not there, and stays usable",
    plugging(makeStack, async ({ hotplug, samples: { disk } }) => {
      await assert.rejects(hotplug.attachDisk({ ...disk, source: { file: "/nowhere/disk.img" } }), {
        code: "StackCommandFailed",
      });
      await hotplug.attachDisk(disk);
      await assert.rejects(hotplug.attachDisk(disk), { code: "StackDefinitionRefused" });
      for (const operation of [
        () => hotplug.detachDisk("ua-nobody"),
        () => hotplug.resizeDisk("ua-nobody", 1024 * 1024),
        () => hotplug.detachInterface("ua-nobody"),
        () => hotplug.setLink("ua-nobody", false),
      ]) {
        await assert.rejects(operation, { code: "StackDomainNotFound" }, String(operation));
      }
    }),
  );

  it(
    "grows a disk",
    plugging(makeStack, async ({ hotplug, samples: { disk } }) => {
      await hotplug.attachDisk(disk);
      const bytes = 64 * 1024 * 1024;
      await hotplug.resizeDisk(disk.alias.name, bytes);
      const { file } = disk.source ?? {};
      if (file !== undefined) assert.equal((await stat(file)).size, bytes);
    }),
  );

  it(
    "puts a network card in and pulls its cable",
    plugging(makeStack, async ({ stack, hotplug, samples: { networkCard } }) => {
      await hotplug.attachInterface(networkCard);
      assert.ok(aliases(stack, "interfaces").includes(networkCard.alias.name));
      await hotplug.setLink(networkCard.alias.name, false);
      await hotplug.setLink(networkCard.alias.name, true);
      await assert.rejects(hotplug.attachInterface(networkCard), { code: "StackDefinitionRefused" });
      // Whether the guest lets go of it is the guest's affair; asking is not refused, and may be repeated.
      await hotplug.detachInterface(networkCard.alias.name);
      await hotplug.detachInterface(networkCard.alias.name);
    }),
  );

  it(
    "adds CPUs and memory, and may be asked again",
    plugging(makeStack, async ({ stack, hotplug, samples: { vcpus, memoryBytes } }) => {
      await hotplug.setVcpuCount(vcpus);
      await hotplug.setMemory(memoryBytes);
      await hotplug.setVcpuCount(vcpus);
      await hotplug.setMemory(memoryBytes);
      const stats = await stack.stats?.domainStats();
      if (stats !== undefined) assert.equal(stats.vcpus.length, vcpus);
    }),
  );

  it(
    "refuses to take CPUs and memory away where it cannot, and more than there is room for",
    plugging(makeStack, async ({ stack, hotplug, samples: { vcpus, memoryBytes } }) => {
      await hotplug.setVcpuCount(vcpus);
      await hotplug.setMemory(memoryBytes);
      const codes = ["StackNotSupported", "StackCommandFailed", "StackDefinitionRefused"];
      const refused = (error: Error & { code?: string }): boolean => codes.includes(error.code ?? "");
      await assert.rejects(hotplug.setVcpuCount(10_000), refused);
      await assert.rejects(hotplug.setMemory(2 ** 50), refused);
      for (const less of [() => hotplug.setVcpuCount(1), () => hotplug.setMemory(memoryBytes / 2)]) {
        await less().catch((error: Error & { code?: string }) => assert.equal(error.code, "StackNotSupported"));
      }
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
    }),
  );
}

/** What follows an event may take a moment. */
async function settled(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, "it did not settle");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
