import { describe, expect, it } from "vitest";
import { silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { createFakeStack, type FakeStack } from "@polyvirt/stack";
import { supervise } from "./supervisor.ts";

/** A machine without sockets and disks, so that the fake touches nothing. */
const domain = { type: "test", name: "ns_vm" } as const;

function setup() {
  const stack = createFakeStack();
  const clock = createManualClock();
  const stop = new AbortController();
  const ending = supervise(
    { stack, clock, logger: silentLogger, gracePeriodMs: 5_000, startTimeoutMs: 60_000 },
    stop.signal,
  );
  return { stack, clock, stop, ending };
}

/** A guest that does not react to the power button, as one that is still booting. */
function deafen(stack: FakeStack): void {
  stack.lifecycle.shutdown = async () => {};
}

describe("supervise", () => {
  it("ends with 0 when the guest powers off", async () => {
    const { stack, ending } = setup();
    await stack.lifecycle.start(domain);
    await stack.lifecycle.shutdown();
    expect(await ending).toEqual({ exitCode: 0, message: "the guest powered off" });
  });

  it("ends with 1 and the reason when the machine crashes", async () => {
    const { stack, ending } = setup();
    await stack.lifecycle.start(domain);
    stack.crash("QEMU was killed by SIGKILL");
    expect(await ending).toEqual({ exitCode: 1, message: "QEMU was killed by SIGKILL" });
  });

  it("ends with 1 when no machine comes", async () => {
    const { clock, ending } = setup();
    await clock.advance(60_000);
    expect(await ending).toMatchObject({ exitCode: 1, message: expect.stringContaining("60 s") });
  });

  it("waits as long as it takes once a machine has come", async () => {
    const { stack, clock, ending } = setup();
    await stack.lifecycle.start(domain);
    await clock.advance(3_600_000);
    expect(clock.pendingTimers()).toBe(0);
    await stack.lifecycle.kill();
    expect(await ending).toMatchObject({ exitCode: 0 });
  });

  it("asks the guest to end when it is told to stop", async () => {
    const { stack, stop, ending, clock } = setup();
    await stack.lifecycle.start(domain);
    stop.abort();
    expect(await ending).toEqual({ exitCode: 0, message: "the guest powered off" });
    expect(clock.pendingTimers()).toBe(0);
  });

  it("wakes a paused guest, which could not hear otherwise", async () => {
    const { stack, stop, ending } = setup();
    await stack.lifecycle.start(domain, { paused: true });
    stop.abort();
    expect(await ending).toEqual({ exitCode: 0, message: "the guest powered off" });
  });

  it("pulls the plug when the grace period is over, not before", async () => {
    const { stack, stop, ending, clock } = setup();
    await stack.lifecycle.start(domain);
    deafen(stack);
    stop.abort();
    await clock.advance(4_999);
    expect(stack.lifecycle.domain()?.status.state).toBe("Running");
    await clock.advance(1);
    expect(await ending).toMatchObject({ exitCode: 0, message: expect.stringContaining("Destroyed") });
  });

  it("pulls the plug at once when the guest cannot be asked", async () => {
    const { stack, stop, ending } = setup();
    await stack.lifecycle.start(domain);
    stack.lifecycle.shutdown = async () => {
      throw new Error("the monitor does not answer");
    };
    stop.abort();
    expect(await ending).toMatchObject({ exitCode: 0 });
  });

  it("ends at once when it is told to stop before a machine came", async () => {
    const { stop, ending } = setup();
    stop.abort();
    expect(await ending).toMatchObject({ exitCode: 0 });
  });
});
