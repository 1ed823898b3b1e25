import { describe, expect, it } from "vitest";
import { contractEvents, lifecycleStatus, statusOf } from "./libvirt-state.ts";

describe("what libvirt says about a machine", () => {
  it.each([
    [1, 1, "Running", "Unknown"],
    [3, 1, "Paused", "User"],
    [3, 5, "Paused", "IOError"],
    [5, 1, "Shutoff", "Shutdown"],
    [5, 4, "Shutoff", "Migrated"],
    // Off because its monitor went away, or was not there when a new daemon looked.
    [5, 3, "Crashed", "Crashed"],
    [5, 6, "Crashed", "Crashed"],
    [6, 1, "Crashed", "Panicked"],
    [99, 0, "Unknown", "Unknown"],
  ])("state %i, reason %i", (number, detail, state, reason) => {
    expect(statusOf(number, detail)).toEqual({ state, reason });
  });

  it.each([
    [2, 0, { state: "Running" }],
    [2, 1, { state: "Paused", reason: "Migration" }],
    [3, 2, { state: "Paused", reason: "IOError" }],
    [4, 1, { state: "Running" }],
    [5, 0, { state: "Shutoff", reason: "Shutdown" }],
    [5, 5, { state: "Crashed", reason: "Crashed" }],
    [8, 0, { state: "Crashed", reason: "Panicked" }],
  ])("event %i, detail %i", (event, detail, status) => {
    expect(lifecycleStatus(event, detail)).toMatchObject(status);
  });

  it("is no state when it is about definitions", () => {
    expect(lifecycleStatus(0, 0)).toBeUndefined();
  });

  it.each([
    ['{"guest":true}', [{ kind: "reset", byGuest: true }]],
    ['{"guest":false}', [{ kind: "reset", byGuest: false }]],
    ["not JSON", [{ kind: "reset", byGuest: false }]],
  ])("includes QEMU's reset with %s", (details, told) => {
    const domain = { name: "vm", uuid: Buffer.alloc(16), id: 1 };
    const message = { callbackId: 0, domain, event: "RESET", seconds: 0n, microseconds: 0, details };
    expect(contractEvents({ name: "monitor", message })).toEqual(told);
  });
});
