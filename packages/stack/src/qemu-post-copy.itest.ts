import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { probeQemuPostCopy } from "./qemu-post-copy.ts";

const emulator = "/usr/bin/qemu-system-x86_64";
const ask = (...command: readonly [string, ...string[]]) => probeQemuPostCopy({ clock: systemClock, command });

describe("whether QEMU can receive machines by post-copy", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "post-copy-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  /** Something in QEMU's place. */
  async function program(script: string): Promise<string> {
    const file = join(directory, "qemu");
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return file;
  }

  it("depends on what the kernel lets its user do", async () => {
    const everybody = readFileSync("/proc/sys/vm/unprivileged_userfaultfd", "utf8").trim() === "1";
    const refused = { supported: false, reason: expect.stringMatching(/userfaultfd.*sysctl/) };
    const answer = await ask("unshare", "--user", "--map-user=1", "--", emulator);
    expect(answer).toEqual(everybody ? { supported: true } : refused);
  });

  it.skipIf(process.getuid?.() !== 0)("is given for root", async () => {
    expect(await ask(emulator)).toEqual({ supported: true });
  });

  it("is denied with the reason when QEMU is not there, dies, or answers nonsense", async () => {
    expect(await ask("/nowhere/qemu")).toMatchObject({ supported: false, reason: expect.stringContaining("ENOENT") });
    const dying = await program("echo out of paper >&2; exit 3");
    expect(await ask(dying)).toEqual({ supported: false, reason: "QEMU ended: out of paper" });
    const babbling = await program('echo "{nonsense"; echo "{\\"event\\": 1}"');
    expect(await ask(babbling)).toEqual({ supported: false, reason: "QEMU ended" });
  });

  it("is not waited for longer than some seconds", async () => {
    const clock = createManualClock();
    const silent = await program("exec sleep 600");
    const answer = probeQemuPostCopy({ clock, command: [silent] });
    await clock.advance(10_001);
    expect(await answer).toEqual({ supported: false, reason: "QEMU gave no answer within 10 s" });
  });
});
