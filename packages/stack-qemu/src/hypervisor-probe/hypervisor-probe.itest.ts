import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "@polyvirt/core";
import { probeHypervisor } from "./hypervisor-probe.ts";

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
});
