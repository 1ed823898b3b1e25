import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { claimDevice } from "./claim-device.ts";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";

const isRoot = process.getuid?.() === 0;
const owner = { uid: 107, gid: 107 };
let child: ChildProcess | undefined;
let folder: string | undefined;
afterEach(() => {
  child?.kill("SIGKILL");
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

/** A process that has gone through the script and waits; its mounts are its own. */
async function start(script: string): Promise<ProcessIdentity> {
  folder = mkdtempSync(join(tmpdir(), "pv-claim-"));
  child = spawn("unshare", ["--mount", "sh", "-c", `${script}\necho ready; exec sleep 60`, "sh", folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout !== null) await once(child.stdout, "data");
  const identity = identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error("it did not start");
  return identity;
}

const ownDev = 'cp -a /dev/full "$1/full" && mount -t tmpfs tmpfs /dev';
const ownerOf = ({ pid }: ProcessIdentity, name: string) => statSync(`/proc/${pid}/root/dev/${name}`).uid;

describe.runIf(isRoot)("claimDevice", () => {
  it("gives a process its own node of a device", async () => {
    const identity = await start(`${ownDev} && cp -a "$1/full" /dev/full`);
    claimDevice(identity, "full", owner);
    expect(ownerOf(identity, "full")).toBe(107);
    expect(statSync("/dev/full").uid).toBe(0);
  });

  it("leaves the machine's node alone, and a process without the device", async () => {
    claimDevice(await start(":"), "full", owner);
    expect(statSync("/dev/full").uid).toBe(0);
    child?.kill("SIGKILL");
    const without = await start(ownDev);
    claimDevice(without, "full", owner);
    expect(() => ownerOf(without, "full")).toThrow(/ENOENT/);
  });

  it.each([
    ["a link", `${ownDev} && cp -a "$1/full" /dev/other && ln -s other /dev/full`, /symlink/],
    ["another device", `cp -a /dev/zero "$1/zero" && ${ownDev} && cp -a "$1/zero" /dev/full`, /something else/],
    ["a file", `${ownDev} && : >/dev/full`, /found a file/],
  ])("is not deceived by %s", async (_what, script, message) => {
    const identity = await start(script);
    expect(() => claimDevice(identity, "full", owner)).toThrow(message);
  });
});
