import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import { bootSectorSamples, type StackUnderTest } from "@polyvirt/stack/conformance";
import { createLibvirtStack } from "../libvirt-stack.ts";

const installed = ["/usr/bin/swtpm", "/usr/bin/swtpm_setup", "/usr/sbin/libvirtd"].every((path) => existsSync(path));

describe.skipIf(!installed)("a TPM whose state outlives the launcher (packages libvirt-daemon, swtpm)", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "state-"));
    await mkdir(join(folder, "swtpm"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** One launcher's life: starts the machine, ends it, and goes. */
  async function live(uuid: string): Promise<void> {
    const sample: StackUnderTest = await bootSectorSamples({
      makeStack: (scratchDirectory) =>
        createLibvirtStack({ clock: systemClock, logger: silentLogger, scratchDirectory, persistentDirectory: folder }),
      refuse: (domain) => ({ domain, path: "" }),
      crashVmm: async () => {},
    });
    const tpms: NonNullable<Domain["devices"]>["tpms"] = [
      { model: "tpm-crb", backend: { type: "emulator", version: "2.0", persistentState: "yes" } },
    ];
    try {
      await sample.stack.lifecycle.start({ ...sample.domain, uuid, devices: { ...sample.domain.devices, tpms } });
      await sample.stack.lifecycle.kill();
      await sample.stack.lifecycle.forget();
    } finally {
      await sample.stack.close();
      await sample.dispose();
    }
  }

  it("is kept in the volume, and found there by a machine of another id", async () => {
    await live("00000000-0000-4000-8000-000000000001");
    const kept = join(folder, "swtpm/tpm2");
    expect(await readdir(kept)).toContain("tpm2-00.permall");
    const made = (await stat(kept)).birthtimeMs;
    await live("00000000-0000-4000-8000-000000000002");
    expect((await stat(kept)).birthtimeMs).toBe(made);
    expect(await readdir(kept)).toContain("tpm2-00.permall");
  });
});
