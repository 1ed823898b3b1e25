import { spawn, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { identifyProcess } from "./process-identity.ts";
import { adoptOrphans, collectOrphans } from "./orphans.ts";

const none = new Set<number>();

/** A daemon that lets go of a child and tells its id. */
function orphan(script: string): number {
  const daemon = `(${script}) >/dev/null 2>&1 & echo $!`;
  const { stdout } = spawnSync("setsid", ["--wait", "sh", "-c", daemon], { encoding: "utf8" });
  return Number(stdout);
}

describe("adopted orphans", () => {
  it("are collected, once, with how they ended", async () => {
    adoptOrphans();
    const waiting = orphan("exec sleep 60");
    expect(identifyProcess(waiting)).toBeDefined();
    expect(collectOrphans(none).has(waiting)).toBe(false);
    process.kill(waiting, "SIGKILL");
    await expect.poll(() => collectOrphans(none).get(waiting)).toEqual({ signal: 9 });
    expect(collectOrphans(none).has(waiting)).toBe(false);

    // Not before its parent is gone: that one would collect it otherwise.
    const quick = orphan("while [ -d /proc/$$ ]; do sleep 0.01; done; exit 3");
    await expect.poll(() => collectOrphans(none).get(quick)).toEqual({ code: 3 });
  });

  it.each([false, true])("are not the children of Node (detached: %s)", async (detached) => {
    const child = spawn("sh", ["-c", "exit 5"], { detached });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const named = new Set(detached ? [child.pid ?? 0] : []);
    for (let looked = 0; looked < 20; looked += 1) collectOrphans(named);
    expect(await ended).toBe(5);
  });
});
