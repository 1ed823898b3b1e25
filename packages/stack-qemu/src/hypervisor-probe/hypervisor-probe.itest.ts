import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock, type Clock } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { probeHypervisor } from "./hypervisor-probe.ts";
import type { DeviceVerdict } from "./judge-probe.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "probe-"));
});
afterEach(() => rm(directory, { recursive: true }));

const probe = (device: string, bootId = "this-boot") =>
  probeHypervisor({ clock: systemClock, device, bootId, directory, hostArchitecture: process.arch });

describe("probing the hypervisor", () => {
  it("says that a device is not there, without running anything", async () => {
    const verdict = await probe("no-such-hypervisor");
    expect(verdict).toMatchObject({ usable: false, reason: "there is no /dev/no-such-hypervisor" });
    expect(await readdir(directory)).toEqual([]);
  });

  it.skipIf(!existsSync("/dev/kvm"))("runs a guest on a device that is there, once in a boot", async () => {
    const verdict = await probe("kvm");
    // Whether it works is this machine's affair; but a device that does not is refused with what the guest did.
    expect(verdict.reason).toMatch(verdict.usable ? /^$/ : /emulated, all of it takes \d+ ms/);
    expect(verdict.probeMilliseconds).toBeGreaterThan(0);
    expect(await readdir(directory)).toEqual(["kvm-probe.json"]);

    const file = join(directory, "kvm-probe.json");
    const kept = JSON.parse(await readFile(file, "utf8")) as object;
    await writeFile(file, JSON.stringify({ ...kept, usable: true, reason: "kept" }));
    expect(await probe("kvm")).toMatchObject({ usable: true, reason: "kept" });
    expect(await probe("kvm", "next-boot")).toMatchObject({ usable: verdict.usable });
  });

  describe("with something in QEMU's place, and a device that always opens", () => {
    /** Runs the script for the accelerated guest; the emulated one does everything that it should. */
    async function emulator(name: string, accelerated: string): Promise<string> {
      const file = join(directory, name);
      const finish = "printf ABCDEFG; exit 33";
      await writeFile(
        file,
        `#!/bin/sh\ncd ${directory}\ncase "$*" in *"-accel tcg"*) ${finish};; esac\n${accelerated}\n`,
      );
      await chmod(file, 0o755);
      return file;
    }
    const kept = "null-probe.json";
    const judge = (program: string, clock: Clock = systemClock) =>
      probeHypervisor({
        clock,
        device: "null",
        bootId: "this-boot",
        directory,
        hostArchitecture: "x64",
        emulator: program,
      });

    it("keeps nothing when QEMU is missing: it may come", async () => {
      const verdict = await judge("/nowhere/qemu");
      expect(verdict).toMatchObject({
        usable: false,
        reason: expect.stringMatching(/nothing to compare with.*nowhere/),
      });
      expect(await readdir(directory)).toEqual([]);
    });

    it("asks again when there is another QEMU", async () => {
      const bad = await emulator("bad", "echo no such accelerator >&2; exit 1");
      expect(await judge(bad)).toMatchObject({ usable: false, reason: expect.stringContaining("no such accelerator") });
      expect(await readdir(directory)).toContain(kept);
      const good = await emulator("good", "printf ABCDEFG; exit 33");
      expect(await judge(good)).toMatchObject({ usable: true, reason: "" });
    });

    it("gives a device on which QEMU ended at once another try", async () => {
      const program = await emulator("unsure", "[ -e tried ] || { touch tried; exit 1; }; printf ABCDEFG; exit 33");
      expect(await judge(program)).toMatchObject({ usable: true });
    });

    it("does not wait for a process that cannot be ended", async () => {
      // What holds its output cannot be seen from here, as little as what the kernel does with a process.
      const program = await emulator("stuck", "sleep 60 & echo $! >stuck-pid; printf AB; wait");
      const clock = createManualClock();
      let verdict: DeviceVerdict | undefined;
      const judged = judge(program, clock).then((value) => (verdict = value));
      const file = join(directory, "stuck-pid");
      await expect.poll(() => existsSync(file), { timeout: 10_000 }).toBe(true);
      await expect
        .poll(() => clock.advance(1_000).then(() => verdict), { timeout: 10_000 })
        .toMatchObject({ usable: false, reason: expect.stringMatching(/cannot be ended/) });
      await judged;
      process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
    });
  });
});
