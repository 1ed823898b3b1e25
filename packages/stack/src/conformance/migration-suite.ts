import assert from "node:assert/strict";
import type { Migration } from "../migration.ts";
import type { Stack } from "../contract.ts";
import { bootSectorGreeting } from "./boot-sector.ts";
import { ConsoleClient } from "./console-client.ts";
import { EventLog } from "./event-log.ts";
import type { MakeStack, MigrationSamples, TestRunner } from "./harness.ts";
import { examining } from "./lifecycle-suite.ts";

interface Moving {
  readonly stack: Stack;
  readonly source: Migration;
  readonly target: Migration;
  readonly samples: MigrationSamples;
  readonly sourceLog: EventLog;
  readonly targetLog: EventLog;
}

/** Starts the machine at the source and makes the target ready; does nothing for a stack that cannot move machines. */
function moving(makeStack: MakeStack, body: (moving: Moving) => Promise<void>): () => Promise<void> {
  return examining(makeStack, async ({ stack, domain, migration: samples, log, tell }) => {
    if (stack.migration === undefined || samples?.target.migration === undefined) return;
    const targetLog = new EventLog(samples.target);
    const target = samples.target.migration;
    try {
      await stack.lifecycle.start(domain);
      await tell("z");
      await target.receive(samples.targetDomain, samples.socketPath);
      await body({ stack, source: stack.migration, target, samples, sourceLog: log, targetLog });
    } finally {
      await samples.target.close();
    }
  });
}

export function migrationSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "moves a machine, which goes on where it was",
    moving(makeStack, async ({ stack, source, samples, sourceLog, targetLog }) => {
      assert.equal(samples.target.lifecycle.domain()?.status.state, "Paused");
      await source.send(samples.socketPath, { downtimeLimitMs: 300 });
      await sourceLog.status("Shutoff", "Migrated");
      await targetLog.status("Running");
      assert.equal(stack.lifecycle.domain()?.status.reason, "Migrated");
      const console = await ConsoleClient.open(samples.target.console?.serialSocket(0) ?? "");
      await console.echo("moved");
      assert.ok(!console.text.includes(bootSectorGreeting), "the guest must not have started over");
      console.close();
    }),
  );

  it(
    "leaves the machine where it is when the move is cancelled",
    moving(makeStack, async ({ stack, source, samples }) => {
      const sent = source.send(samples.socketPath, { bandwidthBytesPerSecond: 4096, downtimeLimitMs: 1 });
      const failure = sent.catch((error: unknown) => error);
      while ((await source.progress()).phase !== "active") await new Promise((resolve) => setTimeout(resolve, 10));
      await source.cancel();
      const error = await failure;
      assert.equal(error instanceof Error && "code" in error ? error.code : undefined, "StackCommandFailed");
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
    }),
  );

  it(
    "leaves the machine where it is when nobody receives it",
    moving(makeStack, async ({ stack, source, samples }) => {
      await assert.rejects(source.send(`${samples.socketPath}-nobody`, {}), { code: "StackCommandFailed" });
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
    }),
  );
}
