import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import { isAlive, identifyProcess, listProcesses } from "@polyvirt/host";
import type { DomainEvent } from "@polyvirt/stack";
import { bootSectorGreeting, bootSectorSamples, ConsoleClient, type StackUnderTest } from "@polyvirt/stack/conformance";
import { createLibvirtStack } from "../libvirt-stack.ts";

const installed = existsSync("/usr/sbin/libvirtd") || existsSync("/usr/sbin/virtqemud");
const limit = { timeout: 20_000, interval: 50 };

describe.skipIf(!installed)("a private libvirt daemon (package libvirt-daemon)", () => {
  const sharedCache = { directory: mkdtempSync(join(tmpdir(), "capabilities-")), writable: true };
  afterAll(() => rmSync(sharedCache.directory, { recursive: true }));

  let sample: StackUnderTest;
  let events: DomainEvent[];
  beforeEach(async () => {
    sample = await bootSectorSamples({
      makeStack: (scratchDirectory) =>
        createLibvirtStack({ clock: systemClock, logger: silentLogger, scratchDirectory, sharedCache }),
      refuse: (domain) => ({ domain, path: "" }),
      crashVmm: async () => {},
    });
    events = [];
    sample.stack.lifecycle.subscribe((event) => events.push(event));
  });
  afterEach(async () => {
    await sample.stack.close();
    await sample.dispose();
  });

  const children = (name: string) =>
    listProcesses().filter((entry) => entry.parent === process.pid && entry.command.startsWith(name));

  it("may die: the guest runs on, and what happens to it is still told", async () => {
    await sample.stack.lifecycle.start(sample.domain);
    const [daemon] = children("libvirtd");
    const qemu = identifyProcess(children("qemu-system")[0]?.pid ?? 0);
    const console = await ConsoleClient.open(sample.stack.console?.serialSocket(0) ?? "");
    await console.echo("before");
    process.kill(daemon?.pid ?? 0, "SIGKILL");
    await expect.poll(() => children("libvirtd").some(({ pid }) => pid !== daemon?.pid), limit).toBe(true);

    await console.echo("after");
    expect(console.text.split(bootSectorGreeting).length, "the guest must not have started over").toBeLessThan(3);
    expect(qemu !== undefined && isAlive(qemu)).toBe(true);
    await sample.stack.lifecycle.pause();
    expect(sample.stack.lifecycle.domain()?.status).toMatchObject({ state: "Paused", reason: "User" });
    await sample.stack.lifecycle.resume();
    console.type("Q");
    await expect
      .poll(() => events.at(-1), limit)
      .toMatchObject({ kind: "status", status: { state: "Shutoff", reason: "Shutdown" } });
    console.close();
  });

  it("tells what happened while it was dead", async () => {
    await sample.stack.lifecycle.start(sample.domain);
    const [daemon] = children("libvirtd");
    const [qemu] = children("qemu-system");
    process.kill(daemon?.pid ?? 0, "SIGKILL");
    process.kill(qemu?.pid ?? 0, "SIGKILL");
    await expect
      .poll(() => events.at(-1), limit)
      .toMatchObject({ kind: "status", status: { state: "Crashed", reason: "Crashed" } });
  });

  it("leaves nothing behind", async () => {
    await sample.stack.lifecycle.start(sample.domain);
    const started = [...children("libvirtd"), ...children("qemu-system"), ...children("sh")].map(({ pid }) => pid);
    await sample.stack.close();
    expect(listProcesses().filter(({ pid }) => started.includes(pid))).toEqual([]);
  });

  it("learns from others what emulators can do", async () => {
    await sample.stack.lifecycle.start(sample.domain);
    await expect.poll(() => readCache(sharedCache.directory), limit).toMatch(/<qemuCaps>/);
  });

  // Launchers of emulated guests are not given the device, and libvirt would not believe what was found out with it.
  it("keeps for launchers of emulated guests what is true without the hypervisor's device", async () => {
    rmSync(sharedCache.directory, { recursive: true });
    const emulated = sample.stack.capabilities({ architecture: "amd64", virtType: "qemu" });
    expect(await emulated.getSupportedCpuModels()).not.toEqual([]);
    const kept = readdirSync(sharedCache.directory).map((name) =>
      readFileSync(join(sharedCache.directory, name), "utf8"),
    );
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.filter((text) => text.includes("<flag name='kvm'/>"))).toEqual([]);
  });
});

function readCache(directory: string): string {
  const [name] = readdirSync(directory).filter((entry) => entry.endsWith(".xml"));
  return name === undefined ? "" : readFileSync(join(directory, name), "utf8");
}
