import { createManualClock } from "@polyvirt/core/testing";
import { describe, expect, it } from "vitest";
import { createWorkQueue } from "./work-queue.ts";

describe("createWorkQueue", () => {
  it("gives each waiting key once, in order", async () => {
    const queue = createWorkQueue({ clock: createManualClock() });
    for (const key of ["a", "b", "a"]) queue.add(key);
    expect([await queue.take(), await queue.take(), queue.length]).toEqual(["a", "b", 0]);
  });

  it("does not give a key that is worked on, but gives it again afterwards", async () => {
    const queue = createWorkQueue({ clock: createManualClock() });
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.add("a");
    expect(queue.length).toBe(0);
    queue.done("a");
    expect(await queue.take()).toBe("a");
    queue.done("a");
    expect(queue.length).toBe(0);
  });

  it("wakes a waiting taker", async () => {
    const queue = createWorkQueue({ clock: createManualClock() });
    const taken = queue.take();
    queue.add("a");
    expect(await taken).toBe("a");
    queue.add("a");
    expect(queue.length).toBe(0);
  });

  it("waits longer after each failure, up to the limit, and forgets on success", async () => {
    const clock = createManualClock();
    const queue = createWorkQueue({ clock, initialBackoffMs: 100, maxBackoffMs: 400 });
    const delays: number[] = [];
    for (let round = 0; round < 5; round++) {
      const begin = clock.monotonic();
      queue.addRateLimited("a");
      while (queue.length === 0) await clock.advance(50);
      delays.push(clock.monotonic() - begin);
      await queue.take();
      queue.done("a");
    }
    expect(delays).toEqual([100, 200, 400, 400, 400]);
    queue.forget("a");
    expect(queue.failures("a")).toBe(0);
  });

  it("keeps the earlier of two delays", async () => {
    const clock = createManualClock();
    const queue = createWorkQueue({ clock });
    queue.addAfter("a", 500);
    queue.addAfter("a", 100);
    queue.addAfter("a", 300);
    expect(clock.pendingTimers()).toBe(1);
    await clock.advance(100);
    expect(queue.length).toBe(1);
  });

  it("lets everyone go when it is shut down", async () => {
    const clock = createManualClock();
    const queue = createWorkQueue({ clock });
    const waiting = queue.take();
    queue.addAfter("a", 10);
    queue.shutDown();
    expect(await waiting).toBeUndefined();
    expect(await queue.take()).toBeUndefined();
    expect(clock.pendingTimers()).toBe(0);
    queue.add("b");
    expect(queue.length).toBe(0);
  });
});
