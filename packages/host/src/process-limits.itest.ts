import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";
import { processTree, raiseMemoryLockLimit } from "./process-limits.ts";
import { innermostPid, listThreads, pinThread } from "./threads.ts";

let child: ChildProcess | undefined;
afterEach(() => child?.kill("SIGKILL"));

function start(command: string, ...args: string[]): ProcessIdentity {
  child = spawn(command, args, { stdio: "ignore" });
  const identity = identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error("it did not start");
  return identity;
}

const limits = (pid: number): string | undefined =>
  /^Max locked memory\s+(\S+)\s+(\S+)/m
    .exec(readFileSync(`/proc/${pid}/limits`, "utf8"))
    ?.slice(1)
    .join("/");
const [, hard] = (limits(process.pid) ?? "").split("/");
const hasRight = (BigInt(`0x${/CapEff:\s+(\w+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]}`) >> 24n) & 1n;

describe("raiseMemoryLockLimit", () => {
  it("raises, and never lowers", () => {
    const identity = start("sh", "-c", "ulimit -S -l 64; exec sleep 60");
    const reachable = Math.min(Number(hard) || 1 << 20, 1 << 20);
    raiseMemoryLockLimit(identity, reachable);
    expect(Number(limits(identity.pid)?.split("/")[0] ?? 0)).toBeGreaterThanOrEqual(reachable);
    const before = limits(identity.pid);
    raiseMemoryLockLimit(identity, 4096);
    expect(limits(identity.pid)).toBe(before);
  });

  it.runIf(hard !== "unlimited" && hasRight === 0n)("says which right is missing", () => {
    const identity = start("sleep", "60");
    expect(() => raiseMemoryLockLimit(identity, Number(hard) * 2 + 4096)).toThrow(
      /the kernel refuses; CAP_SYS_RESOURCE is needed/,
    );
  });

  it("does not touch another process that has taken the id", () => {
    const identity = start("sleep", "60");
    expect(() => raiseMemoryLockLimit({ ...identity, startTime: "1" }, 4096)).toThrow(/has ended/);
  });
});

describe("processes and their threads", () => {
  it("are found below the one that started them", async () => {
    const { pid } = start("sh", "-c", "sleep 60 & wait");
    await vi.waitFor(() => {
      expect(processTree(pid).map(({ command }) => command)).toEqual(["sh", "sleep"]);
    });
    expect(processTree(process.pid).some((found) => found.pid === pid)).toBe(true);
  });

  it("are listed by name, and can be kept on a CPU", () => {
    const { pid } = start("sleep", "60");
    const [thread] = listThreads(pid);
    expect(thread?.tid).toBe(pid);
    expect(innermostPid(pid)).toBeGreaterThan(0);
    pinThread(pid, [0]);
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^Cpus_allowed_list:\s+0$/m);
    expect(listThreads(0)).toEqual([]);
  });
});
