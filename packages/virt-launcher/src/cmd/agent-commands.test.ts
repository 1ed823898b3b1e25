import { silentLogger, type Timer } from "@polyvirt/core";
import { createFakeStack, type GuestAgent } from "@polyvirt/stack";
import { describe, expect, it } from "vitest";
import { agentCommands } from "./agent-commands.ts";

/** An agent that only freezes and thaws, and a clock whose timers fire when they are told to. */
function frozenGuest() {
  const done: string[] = [];
  const timers: { ms: number; fire: () => void; cancelled: boolean }[] = [];
  const state = { frozen: false };
  // Only what freezing needs is asked for here.
  const guestAgent = {
    info: async () => ({ agentVersion: "", supportedCommands: [], interfaces: [], filesystemsFrozen: state.frozen }),
    async freeze() {
      done.push("freeze");
      state.frozen = true;
    },
    async thaw() {
      done.push("thaw");
      state.frozen = false;
    },
  } as unknown as GuestAgent;
  const setTimer = (ms: number, fire: () => void): Timer => {
    const timer = { ms, fire, cancelled: false };
    timers.push(timer);
    return { cancel: () => void (timer.cancelled = true) };
  };
  const stack = { ...createFakeStack(), guestAgent };
  const commands = agentCommands({
    stack,
    credentials: { result: () => undefined },
    onProbeFailed: () => {},
    clock: { setTimer },
    logger: silentLogger,
  });
  return { commands, done, timers };
}

const freeze = (unfreezeTimeoutSeconds: number) =>
  ({ $typeName: "kubevirt.cmd.v1.FreezeRequest", unfreezeTimeoutSeconds }) as const;
const vmi = { $typeName: "kubevirt.cmd.v1.VMIRequest" } as const;
const call = { signal: new AbortController().signal, path: "" };

describe("freezing", () => {
  it("ends by itself after the limit", async () => {
    const { commands, done, timers } = frozenGuest();
    await commands.freezeVirtualMachine?.(freeze(300), call);
    expect(timers.map(({ ms }) => ms)).toEqual([300_000]);
    timers[0]?.fire();
    expect(done).toEqual(["freeze", "thaw"]);
  });

  it("is not ended twice", async () => {
    const { commands, timers } = frozenGuest();
    await commands.freezeVirtualMachine?.(freeze(300), call);
    await commands.unfreezeVirtualMachine?.(vmi, call);
    expect(timers[0]?.cancelled).toBe(true);
  });

  it("takes the longest limit there is for what it is", async () => {
    const { commands, timers } = frozenGuest();
    await commands.freezeVirtualMachine?.(freeze(2 ** 31 - 1), call);
    expect(timers.map(({ ms }) => ms)).toEqual([2 ** 31 - 1]);
  });

  it("has no limit when none is asked for", async () => {
    const { commands, timers } = frozenGuest();
    await commands.freezeVirtualMachine?.(freeze(0), call);
    expect(timers).toEqual([]);
  });

  it("leaves a frozen guest as it is, and counts anew", async () => {
    const { commands, done, timers } = frozenGuest();
    await commands.freezeVirtualMachine?.(freeze(10), call);
    await commands.freezeVirtualMachine?.(freeze(20), call);
    expect(done).toEqual(["freeze"]);
    expect(timers.map(({ ms, cancelled }) => [ms, cancelled])).toEqual([
      [10_000, true],
      [20_000, false],
    ]);
  });
});
