import assert from "node:assert/strict";
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
      await assert.rejects(hotplug.detachDisk("ua-nobody"), { code: "StackDomainNotFound" });
    }),
  );

  it(
    "grows a disk",
    plugging(makeStack, async ({ hotplug, samples: { disk } }) => {
      await hotplug.attachDisk(disk);
      await hotplug.resizeDisk(disk.alias.name, 64 * 1024 * 1024);
    }),
  );

  it(
    "puts a network card in and pulls its cable",
    plugging(makeStack, async ({ stack, hotplug, samples: { networkCard } }) => {
      await hotplug.attachInterface(networkCard);
      assert.ok(aliases(stack, "interfaces").includes(networkCard.alias.name));
      await hotplug.setLink(networkCard.alias.name, false);
      await hotplug.setLink(networkCard.alias.name, true);
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
}

/** What follows an event may take a moment. */
async function settled(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, "it did not settle");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
