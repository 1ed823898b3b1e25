import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { cmdV1, create } from "@polyvirt/protocol";
import { createFakeStack, type FakeStack } from "@polyvirt/stack";
import { migrationCommands } from "./migration-commands.ts";

let directory: string;
let source: FakeStack;
let target: FakeStack;
const clock = createManualClock();
const failures: string[] = [];
const limit = { timeout: 10_000 };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "slow-"));
  await writeFile(join(directory, "disk"), "");
  failures.length = 0;
  source = createFakeStack();
  target = createFakeStack();
  const machine = { type: "test", name: "vm", devices: { disks: [{ source: { file: join(directory, "disk") } }] } };
  await source.lifecycle.start(machine);
  await target.migration?.receive(machine, join(directory, "move"), { allowPostCopy: true });
});

afterEach(async () => {
  await source.close();
  await target.close();
  await rm(directory, { recursive: true });
});

/** A move that would take four seconds, of which a second is allowed. */
async function migrate(options: object): Promise<void> {
  const vmi = { metadata: { name: "vm" }, spec: { domain: { devices: {} } } };
  const commands = migrationCommands({
    stack: source,
    machine: { receive: async () => {} },
    readVmi: () => vmi,
    sockets: { source: join(directory, "move"), target: "" },
    onFailure: (message) => failures.push(message),
    clock,
    logger: silentLogger,
  });
  const json = JSON.stringify({ Bandwidth: "256Ki", CompletionTimeoutPerGiB: 1, ...options });
  const request = create(cmdV1.MigrationRequestSchema, { options: Buffer.from(json) });
  // It needs nothing of how it was called.
  await commands.migrateVirtualMachine?.(request, {} as never);
  await expect.poll(async () => (await source.migration?.progress())?.phase, limit).toBe("active");
  await clock.advance(1_001);
}

describe("a move that takes too long", () => {
  it("goes on by post-copy where that is allowed", async () => {
    await migrate({ AllowPostCopy: true });
    await expect.poll(() => target.lifecycle.domain()?.status.state, limit).toBe("Running");
    await expect.poll(() => source.lifecycle.domain()?.status.reason, limit).toBe("Migrated");
    expect(failures).toEqual([]);
  });

  it("is given up otherwise, and the machine stays", async () => {
    await migrate({});
    await expect.poll(() => failures.join(), limit).toMatch(/cancelled/);
    expect(source.lifecycle.domain()?.status.state).toBe("Running");
  });
});
