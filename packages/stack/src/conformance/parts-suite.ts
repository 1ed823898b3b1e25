import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { capabilitiesV1, fromJson } from "@polyvirt/protocol";
import { exportCapabilities } from "../export-capabilities.ts";
import { implementedParts, requirePart } from "../require-part.ts";
import { optionalParts } from "../contract.ts";
import { bootSectorGreeting } from "./boot-sector.ts";
import { ConsoleClient } from "./console-client.ts";
import type { MakeStack, TestRunner } from "./harness.ts";
import { examining } from "./lifecycle-suite.ts";

export function partsSuite({ describe, it }: TestRunner, makeStack: MakeStack): void {
  it(
    "says what it is",
    examining(makeStack, async ({ stack }) => {
      assert.match(stack.name, /^[a-z][a-z0-9-]*$/);
      assert.notEqual(stack.vmmName, "");
      assert.match(await stack.vmmVersion(), /^\d+\.\d+/);
    }),
  );

  it(
    "refuses what it has not, by name",
    examining(makeStack, async ({ stack }) => {
      const implemented = implementedParts(stack);
      for (const part of optionalParts.filter((name) => !implemented.includes(name))) {
        assert.throws(() => requirePart(stack, part, "try"), { code: "StackNotSupported" });
      }
    }),
  );

  it(
    "exports its capabilities as ProtoJSON",
    examining(makeStack, async ({ stack, capabilityTarget }) => {
      const exported = await exportCapabilities(stack, capabilityTarget);
      const read = fromJson(capabilitiesV1.CapabilitiesSchema, exported);
      assert.equal(read.architecture, capabilityTarget.architecture);
      assert.ok(read.supportedMachineTypes.length > 0);
      assert.ok(read.supportedCpuModels.some((model) => model.usable));
      const machines = namesOf(read.supportedMachineTypes);
      namesOf(read.supportedCpuModels);
      namesOf(read.supportedCpuFeatures.map((name) => ({ name })));
      namesOf(read.hypervFeatures.map((name) => ({ name })));
      for (const { name, canonical } of read.supportedMachineTypes) {
        assert.ok(canonical === "" || machines.has(canonical), `${name} stands for ${canonical}, which is not there`);
      }
      assert.notEqual(read.nodeSevFeatures, undefined);
    }),
  );

  it(
    "has nothing to work on without a machine, and says so in every part",
    examining(makeStack, async ({ stack, hotplug: samples }) => {
      const { console, graphics, stats, guestAgent, hotplug } = stack;
      const operations: Readonly<Record<string, (() => unknown) | undefined>> = {
        serialSocket: console && (() => console.serialSocket(0)),
        vncSocket: graphics && (() => graphics.vncSocket()),
        screenshot: graphics && (() => graphics.screenshot()),
        domainStats: stats && (() => stats.domainStats()),
        agentInfo: guestAgent && (() => guestAgent.info()),
        agentExec: guestAgent && (() => guestAgent.exec("true", [], 1_000)),
        attachDisk: hotplug && samples && (() => hotplug.attachDisk(samples.disk)),
        detachDisk: hotplug && (() => hotplug.detachDisk("ua-x")),
        resizeDisk: hotplug && (() => hotplug.resizeDisk("ua-x", 1)),
        attachInterface: hotplug && samples && (() => hotplug.attachInterface(samples.networkCard)),
        detachInterface: hotplug && (() => hotplug.detachInterface("ua-x")),
        setLink: hotplug && (() => hotplug.setLink("ua-x", true)),
        setVcpuCount: hotplug && (() => hotplug.setVcpuCount(2)),
        setMemory: hotplug && (() => hotplug.setMemory(1)),
      };
      for (const [name, operation] of Object.entries(operations)) {
        if (operation === undefined) continue;
        await assert.rejects(async () => operation(), { code: "StackDomainNotFound" }, name);
      }
    }),
  );

  describe("console", () => consoleSuite({ describe, it }, makeStack));
  describe("graphics", () => graphicsSuite({ describe, it }, makeStack));
  describe("guest agent", () => agentSuite({ describe, it }, makeStack));
  describe("stats", () => statsSuite({ describe, it }, makeStack));
}

/** The names, after it is certain that each is there once and none is empty. */
function namesOf(list: readonly { readonly name: string }[]): ReadonlySet<string> {
  const names = new Set(list.map(({ name }) => name));
  assert.equal(names.size, list.length, "a name is there twice");
  assert.ok(!names.has(""), "something has no name");
  return names;
}

function consoleSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "carries what the guest writes and what is typed",
    examining(makeStack, async ({ stack, domain }) => {
      if (stack.console === undefined) return;
      await stack.lifecycle.start(domain, { paused: true });
      const client = await ConsoleClient.open(stack.console.serialSocket(0));
      await stack.lifecycle.resume();
      await client.waitFor(bootSectorGreeting);
      await client.echo("hello");
      client.close();
    }),
  );

  it(
    "is logged when nobody reads it",
    examining(makeStack, async ({ stack, domain, tell }) => {
      await stack.lifecycle.start(domain);
      const path = stack.console?.serialLog(0);
      if (path === undefined) return;
      await tell("z");
      assert.ok((await readFile(path, "utf8")).includes(bootSectorGreeting));
    }),
  );

  it(
    "can be left and entered again",
    examining(makeStack, async ({ stack, domain }) => {
      if (stack.console === undefined) return;
      await stack.lifecycle.start(domain);
      for (const text of ["one", "two"]) {
        const client = await ConsoleClient.open(stack.console.serialSocket(0));
        await client.echo(text);
        client.close();
      }
    }),
  );

  it(
    "is not there for a port that the machine has not",
    examining(makeStack, async ({ stack, domain }) => {
      if (stack.console === undefined) return;
      await stack.lifecycle.start(domain);
      assert.throws(() => stack.console?.serialSocket(7), { code: "StackDomainNotFound" });
    }),
  );
}

function graphicsSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "speaks VNC on a unix socket",
    examining(makeStack, async ({ stack, domain }) => {
      if (stack.graphics === undefined) return;
      await stack.lifecycle.start(domain);
      const client = await ConsoleClient.open(stack.graphics.vncSocket());
      await client.waitFor("RFB 003.");
      client.close();
    }),
  );

  it(
    "takes a picture",
    examining(makeStack, async ({ stack, domain }) => {
      if (stack.graphics === undefined) return;
      await stack.lifecycle.start(domain);
      const { mime, data } = await stack.graphics.screenshot();
      assert.equal(mime, "image/png");
      assert.equal(Buffer.from(data.subarray(0, 8)).toString("latin1"), "\u0089PNG\r\n\u001a\n");
      // Complete: the last chunk is there.
      assert.equal(Buffer.from(data.subarray(-8, -4)).toString(), "IEND");
    }),
  );
}

function statsSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "counts",
    examining(makeStack, async ({ stack, domain, tell }) => {
      if (stack.stats === undefined) return;
      await stack.lifecycle.start(domain);
      await tell("z");
      const stats = await stack.stats.domainStats();
      assert.equal(stats.vcpus.length, Number(domain.vcpu?.value ?? 1));
      const { value = 0, unit } = domain.memory ?? {};
      if (unit === "MiB") assert.equal(stats.memory.actualBytes, Number(value) * 1024 * 1024);
      assert.equal(stats.blocks.length, domain.devices?.disks?.length ?? 0);
      assert.ok(stats.blocks.some((block) => block.readBytes > 0));
      assert.deepEqual(
        stats.blocks.map((block) => block.alias),
        domain.devices?.disks?.map((disk) => disk.alias?.name),
      );
      const later = await stack.stats.domainStats();
      assert.ok((later.cpuTimeNanoseconds ?? 0) >= (stats.cpuTimeNanoseconds ?? 0), "time must not run backwards");
    }),
  );
}

function agentSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "is said not to be there when the guest has none, without waiting long",
    examining(makeStack, async ({ stack, domain }) => {
      if (stack.guestAgent === undefined) return;
      await stack.lifecycle.start(domain);
      assert.deepEqual(await stack.guestAgent.condition(), { connected: false, supported: false });
      await assert.rejects(stack.guestAgent.ping(1_000), { code: "StackGuestAgentUnavailable" });
    }),
  );

  it(
    "needs a machine",
    examining(makeStack, async ({ stack }) => {
      if (stack.guestAgent === undefined) return;
      await assert.rejects(stack.guestAgent.ping(1_000), { code: "StackDomainNotFound" });
    }),
  );
}
