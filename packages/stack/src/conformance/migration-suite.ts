import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Migration, MigrationOptions, MigrationProgress, ReceiveOptions } from "../migration.ts";
import { hasEnded, type Stack } from "../contract.ts";
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
  readonly tell: (letter: string) => Promise<void>;
}

/** A move at this speed takes seconds, however small the machine: time to do something to it meanwhile. */
const slowly = { bandwidthBytesPerSecond: 16 * 1024, downtimeLimitMs: 1 };
const phaseLimitMs = 20_000;

interface Preparation {
  readonly receive?: ReceiveOptions;
  /** For tests that need it: they do nothing where it does not work. */
  readonly needsPostCopy?: boolean;
}

/** Starts the machine at the source and makes the target ready; does nothing for a stack that cannot move machines. */
function moving(
  makeStack: MakeStack,
  body: (moving: Moving) => Promise<void>,
  { receive, needsPostCopy = false }: Preparation = {},
): () => Promise<void> {
  return examining(makeStack, async ({ stack, domain, migration: samples, log, tell }) => {
    if (stack.migration === undefined || samples?.target.migration === undefined) return;
    const targetLog = new EventLog(samples.target);
    const target = samples.target.migration;
    try {
      if (needsPostCopy && !(await target.postCopy()).supported) return;
      await stack.lifecycle.start(domain);
      await tell("z");
      await target.receive(samples.targetDomain, samples.socketPath, receive);
      await body({ stack, source: stack.migration, target, samples, sourceLog: log, targetLog, tell });
    } finally {
      await samples.target.close();
    }
  });
}

const byPostCopy: Preparation = { receive: { allowPostCopy: true }, needsPostCopy: true };

/** Begins a move that will not be over soon. What becomes of it is a value, so that nobody has to wait for it at once. */
async function beginSlowly(
  { source, samples }: Moving,
  options: MigrationOptions = {},
): Promise<{ readonly failure: Promise<unknown> }> {
  const failure = source.send(samples.socketPath, { ...slowly, ...options }).then(
    () => undefined,
    (error: unknown) => error,
  );
  await reachPhase(source, "active");
  return { failure };
}

async function reachPhase(source: Migration, wanted: MigrationProgress["phase"]): Promise<void> {
  await reach(source, ({ phase }) => phase === wanted, wanted);
}

async function reach(
  source: Migration,
  isReached: (progress: MigrationProgress) => boolean,
  words: string,
): Promise<MigrationProgress> {
  const deadline = Date.now() + phaseLimitMs;
  for (;;) {
    const progress = await source.progress();
    if (isReached(progress)) return progress;
    assert.ok(Date.now() < deadline, `the move is ${progress.phase} and does not become ${words}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}

/** The guest at the target is the one that was here, and not one that has just booted. */
async function assertArrived({ stack, samples, sourceLog, targetLog }: Moving): Promise<void> {
  await sourceLog.status("Shutoff", "Migrated");
  await targetLog.status("Running");
  assert.equal(stack.lifecycle.domain()?.status.reason, "Migrated");
  const console = await ConsoleClient.open(samples.target.console?.serialSocket(0) ?? "");
  await console.echo("moved");
  console.close();
  // A guest that boots says so at once, perhaps before anybody listens; the log has heard it.
  const log = samples.target.console?.serialLog(0);
  const said = `${log === undefined ? "" : await readFile(log, "utf8")}${console.text}`;
  assert.ok(!said.includes(bootSectorGreeting), "the guest must not have started over");
}

export function migrationSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "moves a machine, which goes on where it was",
    moving(makeStack, async (move) => {
      assert.equal(move.samples.target.lifecycle.domain()?.status.state, "Paused");
      await move.source.send(move.samples.socketPath, { downtimeLimitMs: 300 });
      await assertArrived(move);
    }),
  );

  it(
    "leaves the machine where it is when the move is cancelled, and nothing at the target",
    moving(makeStack, async (move) => {
      const { failure } = await beginSlowly(move);
      // It may begin before it is known how much there is to do.
      const progress = await reach(move.source, ({ totalBytes }) => totalBytes > 0, "one of known size");
      assert.ok(progress.remainingBytes <= progress.totalBytes, `${progress.remainingBytes} of ${progress.totalBytes}`);
      await move.source.cancel();
      assert.equal(codeOf(await failure), "StackCommandFailed");
      await assertStayed(move);
    }),
  );

  it(
    "leaves the machine where it is when nobody receives it",
    moving(makeStack, async ({ stack, source, samples }) => {
      await assert.rejects(source.send(`${samples.socketPath}-nobody`, {}), { code: "StackCommandFailed" });
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
    }),
  );

  it(
    "leaves the machine where it is when the target goes away",
    moving(makeStack, async (move) => {
      const { failure } = await beginSlowly(move);
      await move.samples.target.lifecycle.kill();
      assert.equal(codeOf(await failure), "StackCommandFailed");
      await assertStayed(move);
    }),
  );

  it(
    "can be tried again after it was cancelled",
    moving(makeStack, async (move) => {
      const { failure } = await beginSlowly(move);
      await move.source.cancel();
      await failure;
      const { target } = move.samples;
      await move.targetLog.find("status", (event) => hasEnded(event.status));
      await target.lifecycle.forget();
      move.targetLog.forget();
      await move.target.receive(move.samples.targetDomain, move.samples.socketPath);
      await move.source.send(move.samples.socketPath, { bandwidthBytesPerSecond: 1024 ** 3, downtimeLimitMs: 300 });
      await assertArrived(move);
    }),
  );

  it(
    "needs a machine",
    examining(makeStack, async ({ stack: { migration }, migration: samples }) => {
      if (migration === undefined || samples === undefined) return;
      const needsOne = { code: "StackDomainNotFound" };
      await assert.rejects(async () => migration.send(samples.socketPath, {}), needsOne);
      await assert.rejects(async () => migration.startPostCopy(), needsOne);
      await assert.rejects(async () => migration.cancel(), needsOne);
      await assert.rejects(async () => migration.progress(), needsOne);
    }),
  );

  it(
    "makes ready for post-copy, or says why that is not possible here",
    examining(makeStack, async ({ migration: samples }) => {
      const target = samples?.target.migration;
      if (samples === undefined || target === undefined) return;
      try {
        const answer = await target.postCopy();
        const received = target.receive(samples.targetDomain, samples.socketPath, { allowPostCopy: true });
        if (answer.supported) return await received;
        assert.ok(answer.reason.length > 10, answer.reason);
        await assert.rejects(received, (error: Error & { code?: string }) => {
          assert.equal(error.code, "StackNotSupported");
          assert.ok(error.message.includes(answer.reason), error.message);
          return true;
        });
        assert.equal(samples.target.lifecycle.domain(), undefined);
      } finally {
        await samples.target.close();
      }
    }),
  );

  it(
    "refuses post-copy while nothing is being moved, and where it was not allowed",
    moving(makeStack, async (move) => {
      await assert.rejects(async () => move.source.startPostCopy(), { code: "StackCommandFailed" });
      const { failure } = await beginSlowly(move);
      await assert.rejects(async () => move.source.startPostCopy(), { code: "StackCommandFailed" });
      await move.source.cancel();
      assert.equal(codeOf(await failure), "StackCommandFailed");
      await assertStayed(move);
    }),
  );

  it(
    "moves a machine by post-copy: it runs there before all of it has left, and there is no way back",
    moving(
      makeStack,
      async (move) => {
        const { failure } = await beginSlowly(move, { bandwidthBytesPerSecond: 256 * 1024, allowPostCopy: true });
        await move.source.startPostCopy();
        await move.targetLog.status("Running");
        assert.equal((await move.source.progress()).phase, "postcopy");
        await assert.rejects(async () => move.source.cancel(), { code: "StackCommandFailed" });
        assert.equal(await failure, undefined);
        await assertArrived(move);
      },
      byPostCopy,
    ),
  );

  it(
    "says that the machine is lost when an end dies during post-copy",
    moving(
      makeStack,
      async (move) => {
        const { failure } = await beginSlowly(move, { allowPostCopy: true });
        await move.source.startPostCopy();
        await move.targetLog.status("Running");
        await move.samples.target.close();
        const error = await failure;
        assert.equal(codeOf(error), "StackCommandFailed");
        assert.match(String(error), /lost/);
        await move.sourceLog.status("Crashed");
      },
      byPostCopy,
    ),
  );
}

/** The guest runs on at the source and still listens; at the target there is none. */
async function assertStayed({ stack, samples, targetLog, tell }: Moving): Promise<void> {
  assert.equal(stack.lifecycle.domain()?.status.state, "Running");
  await tell("z");
  await targetLog.find("status", (event) => hasEnded(event.status));
  await assert.rejects(async () => samples.target.lifecycle.resume(), { code: "StackDomainNotFound" });
}
