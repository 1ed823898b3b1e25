import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, systemClock } from "@polyvirt/core";
import { listProcesses, listThreads } from "@polyvirt/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createQemuStack } from "../qemu-stack.ts";
import { bareMachine } from "../testing/build-devices.ts";

const emulator = "/usr/bin/qemu-system-x86_64";
const skipped = existsSync(emulator) ? "" : ` (skipped: ${emulator} is not installed)`;
/** Every machine has it. */
const firstCpu = "0";

describe.skipIf(skipped !== "")(`threads of a machine${skipped}`, () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "threads-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const start = (part: object) => {
    const stack = createQemuStack({ clock: systemClock, logger: silentLogger, scratchDirectory: folder });
    return { stack, started: stack.lifecycle.start({ ...bareMachine, ...part }, { paused: true }) };
  };

  it("run where the definition wants them", async () => {
    const cputune = { vcpupins: [{ vcpu: 0, cpuset: firstCpu }], iothreadpins: [{ iothread: 1, cpuset: firstCpu }] };
    const { stack, started } = start({ vcpu: { value: 1 }, iothreads: 1, cputune });
    try {
      await started;
      const qemu = listProcesses().find(({ parent, command }) => parent === process.pid && command.startsWith("qemu"));
      const allowed = new Map(
        listThreads(qemu?.pid ?? 0).map(({ tid, name }) => {
          const status = readFileSync(`/proc/${qemu?.pid}/task/${tid}/status`, "utf8");
          return [name, /^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1]];
        }),
      );
      expect(allowed.get("CPU 0/TCG")).toBe(firstCpu);
      expect(allowed.get("IO iothread1")).toBe(firstCpu);
    } finally {
      await stack.lifecycle.kill();
    }
  });

  it("do not start on CPUs that are not there", async () => {
    const { started } = start({ vcpu: { value: 1, cpuset: "9999" } });
    await expect(started).rejects.toThrow("CPUs 9999");
  });
});
