import { PolyvirtError, silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { describe, expect, it } from "vitest";
import { createController, type ReconcileResult } from "./controller.ts";

function setUp(reconcile: (key: string, call: number) => ReconcileResult | Error | void) {
  const clock = createManualClock();
  const stop = new AbortController();
  const calls: string[] = [];
  const terminal: string[] = [];
  const controller = createController({
    name: "test",
    clock,
    logger: silentLogger,
    workers: 2,
    backoff: { initialBackoffMs: 100, maxBackoffMs: 1000 },
    reconcile(key) {
      calls.push(key);
      const outcome = reconcile(key, calls.length);
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    },
    onTerminalError: (key) => void terminal.push(key),
  });
  const running = controller.run(stop.signal);
  return { clock, stop, calls, terminal, controller, running };
}

describe("createController", () => {
  it("works on each key once when all is well", async () => {
    const { clock, calls, controller } = setUp(() => {});
    controller.enqueue("a");
    controller.enqueue("b");
    await clock.advance(10_000);
    expect(calls).toEqual(["a", "b"]);
  });

  it("waits without calling it an error", async () => {
    const { clock, calls, controller } = setUp((_key, call) => (call === 1 ? { requeueAfterMs: 5000 } : undefined));
    controller.enqueue("a");
    await clock.advance(4999);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls).toHaveLength(2);
  });

  it("tries again with back-off after an error", async () => {
    const { clock, calls, controller } = setUp((_key, call) => (call < 4 ? new Error("not yet") : undefined));
    controller.enqueue("a");
    await clock.advance(99);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls).toHaveLength(2);
    await clock.advance(600);
    expect(calls).toHaveLength(4);
    await clock.advance(10_000);
    expect(calls).toHaveLength(4);
  });

  it("records a terminal error and does not try again until something changes", async () => {
    const { clock, calls, terminal, controller } = setUp(
      () => new PolyvirtError("TestBroken", "no way", { retry: false }),
    );
    controller.enqueue("a");
    await clock.advance(60_000);
    expect([calls, terminal]).toEqual([["a"], ["a"]]);
    controller.enqueue("a");
    await clock.advance(0);
    expect(calls).toHaveLength(2);
  });

  it("ends when the signal is aborted", async () => {
    const { stop, running, controller, calls } = setUp(() => {});
    stop.abort();
    await running;
    controller.enqueue("late");
    expect(calls).toEqual([]);
  });
});
