import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { identifyProcess, isAlive, parseProcessStat, signalProcess, type ProcessIdentity } from "./process-identity.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function startSleeper(): Promise<{ child: ChildProcess; identity: ProcessIdentity }> {
  const child = spawn("sleep", ["60"]);
  children.push(child);
  await once(child, "spawn");
  // The child was just spawned and sleeps for a minute.
  return { child, identity: identifyProcess(child.pid!)! };
}

describe("parseProcessStat", () => {
  const tail = "S 7 8 9 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 1000 1";
  const rest = { pid: 12, state: "S", parent: 7, session: 9, startTime: "4242" };
  it.each([
    ["a plain name", `12 (sleep) ${tail}`, { ...rest, command: "sleep" }],
    ["blanks and parentheses in the name", `12 (a) S (b c) ${tail}`, { ...rest, command: "a) S (b c" }],
    ["nothing", "", undefined],
    ["a cut line", "12 (sleep) S 7", undefined],
  ])("reads %s", (_name, line, stat) => {
    expect(parseProcessStat(line)).toEqual(stat);
  });
});

describe("process identity", () => {
  it("knows a living process and notices its end", async () => {
    const { child, identity } = await startSleeper();
    expect(isAlive(identity)).toBe(true);
    const exited = once(child, "exit");
    expect(signalProcess(identity, "SIGKILL")).toBe(true);
    await exited;
    expect(isAlive(identity)).toBe(false);
    expect(signalProcess(identity, "SIGKILL")).toBe(false);
    expect(identifyProcess(identity.pid)).toBeUndefined();
  });

  it("does not take another process with the same id, or one of another boot, for it", async () => {
    const { child, identity } = await startSleeper();
    for (const other of [
      { ...identity, startTime: "1" },
      { ...identity, bootId: "another" },
    ]) {
      expect(isAlive(other)).toBe(false);
      expect(signalProcess(other, "SIGKILL")).toBe(false);
    }
    expect(child.exitCode).toBeNull();
    expect(isAlive(identity)).toBe(true);
  });
});
