import assert from "node:assert/strict";
import { hasEnded } from "../contract.ts";
import { requirePart } from "../require-part.ts";
import { bootSectorGreeting } from "./boot-sector.ts";
import { ConsoleClient } from "./console-client.ts";
import { EventLog } from "./event-log.ts";
import type { MakeStack, StackUnderTest, TestRunner } from "./harness.ts";

interface Examined extends StackUnderTest {
  readonly log: EventLog;
  /** Types a letter that the guest acts on, once it listens. */
  readonly tell: (letter: string) => Promise<void>;
  /** A console that stays open until the end of the test, or until the next one is opened. */
  readonly listen: () => Promise<ConsoleClient>;
}

/** Makes a fresh stack for one test and disposes of it, whatever happens. */
export function examining(makeStack: MakeStack, body: (examined: Examined) => Promise<void>): () => Promise<void> {
  return async () => {
    const underTest = await makeStack();
    const log = new EventLog(underTest.stack);
    // A port has one client at a time, and what is typed may be lost with a client that leaves too early.
    let client: ConsoleClient | undefined;
    const listen = async (): Promise<ConsoleClient> => {
      client?.close();
      client = await ConsoleClient.open(requirePart(underTest.stack, "console", "talk to the guest").serialSocket(0));
      return client;
    };
    const tell = async (letter: string): Promise<void> => {
      const console = await listen();
      await console.echo("x");
      console.type(letter);
      if (letter === "I") await console.echo("y");
    };
    try {
      await body({ ...underTest, log, tell, listen });
    } finally {
      client?.close();
      await underTest.stack.close();
      await underTest.dispose();
    }
  };
}

export function lifecycleSuite({ describe, it }: TestRunner, makeStack: MakeStack): void {
  describe("start", () => startSuite({ describe, it }, makeStack));
  describe("a running machine", () => runningSuite({ describe, it }, makeStack));
  describe("the end of a machine", () => endSuite({ describe, it }, makeStack));
}

function startSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "brings the machine to Running and says so",
    examining(makeStack, async ({ stack, domain, log }) => {
      assert.equal(stack.lifecycle.domain(), undefined);
      await stack.lifecycle.start(domain);
      await log.status("Running");
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
      assert.equal(stack.lifecycle.domain()?.definition.name, domain.name);
    }),
  );

  it(
    "may be repeated, also while it is under way",
    examining(makeStack, async ({ stack, domain, log }) => {
      await Promise.all([stack.lifecycle.start(domain), stack.lifecycle.start(domain)]);
      await stack.lifecycle.start(domain);
      await log.status("Running");
      const running = log.events.filter((event) => event.kind === "status" && event.status.state === "Running");
      assert.equal(running.length, 1);
    }),
  );

  it(
    "leaves the machine paused when asked, until it is resumed",
    examining(makeStack, async ({ stack, domain, log }) => {
      await stack.lifecycle.start(domain, { paused: true });
      assert.equal(stack.lifecycle.domain()?.status.state, "Paused");
      await stack.lifecycle.resume();
      await log.status("Running");
    }),
  );

  it(
    "refuses a second machine",
    examining(makeStack, async ({ stack, domain }) => {
      await stack.lifecycle.start(domain);
      await assert.rejects(stack.lifecycle.start({ ...domain, name: "another" }), { code: "StackDomainExists" });
    }),
  );

  it(
    "fails with the monitor's words when it cannot start, and leaves nothing behind",
    examining(makeStack, async ({ stack, domain, brokenDomain, log }) => {
      await assert.rejects(stack.lifecycle.start(brokenDomain), { code: "StackStartFailed" });
      assert.equal(stack.lifecycle.domain(), undefined);
      await stack.lifecycle.start(domain);
      await log.status("Running");
    }),
  );

  it(
    "refuses what it cannot express, by path",
    examining(makeStack, async ({ stack, refusedDomain }) => {
      if (refusedDomain === undefined) return;
      await assert.rejects(stack.lifecycle.start(refusedDomain.domain), (error: Error & { code?: string }) => {
        assert.equal(error.code, "StackDefinitionRefused");
        assert.ok(error.message.includes(refusedDomain.path), error.message);
        return true;
      });
    }),
  );

  it(
    "can be given up",
    examining(makeStack, async ({ stack, domain }) => {
      const signal = AbortSignal.abort(new Error("changed my mind"));
      await assert.rejects(stack.lifecycle.start(domain, { signal }), { code: "StackStartFailed" });
      assert.equal(stack.lifecycle.domain(), undefined);
    }),
  );
}

function runningSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "pauses and resumes, each as often as it is asked",
    examining(makeStack, async ({ stack, domain, log }) => {
      await stack.lifecycle.start(domain);
      await stack.lifecycle.pause();
      await log.status("Paused", "User");
      await stack.lifecycle.pause();
      assert.equal(stack.lifecycle.domain()?.status.state, "Paused");
      log.forget();
      await stack.lifecycle.resume();
      await log.status("Running");
      await stack.lifecycle.resume();
    }),
  );

  it(
    "does nothing while it is paused, and goes on where it was",
    examining(makeStack, async ({ stack, domain, listen }) => {
      await stack.lifecycle.start(domain);
      const console = await listen();
      await console.echo("before");
      console.forget();
      await stack.lifecycle.pause();
      assert.equal(await console.answers("during", 300), false, "a paused guest must not answer");
      await stack.lifecycle.resume();
      await console.echo("after");
      assert.ok(!console.text.includes(bootSectorGreeting), "the guest must not have started over");
    }),
  );

  it(
    "is reset without ending, and its guest starts over",
    examining(makeStack, async ({ stack, domain, log, listen }) => {
      await stack.lifecycle.start(domain);
      const console = await listen();
      await console.echo("before");
      console.forget();
      await stack.lifecycle.reset();
      const event = await log.find("reset");
      assert.equal(event.byGuest, false);
      await console.waitFor(bootSectorGreeting);
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
    }),
  );

  it(
    "is told about in order, and only to those who still listen",
    examining(makeStack, async ({ stack, domain, log }) => {
      const heard: string[] = [];
      const stop = stack.lifecycle.subscribe((event) => {
        if (event.kind === "status") heard.push(event.status.state);
      });
      await stack.lifecycle.start(domain, { paused: true });
      await stack.lifecycle.resume();
      await stack.lifecycle.pause();
      await log.find("status", ({ status }) => status.state === "Paused" && log.states().length >= 3);
      stop();
      const [told, later] = [[...heard], log.states().slice(0, 3)];
      assert.deepEqual(told, ["Paused", "Running", "Paused"]);
      assert.deepEqual(later, told);
      await stack.lifecycle.kill();
      await log.status("Shutoff");
      assert.deepEqual(heard, told);
    }),
  );

  it(
    "reboots itself without ending",
    examining(makeStack, async ({ stack, domain, log, tell }) => {
      await stack.lifecycle.start(domain);
      await tell("R");
      await log.find("reset", (event) => event.byGuest);
      await tell("z");
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
    }),
  );

  it(
    "is not forgotten",
    examining(makeStack, async ({ stack, domain }) => {
      await stack.lifecycle.start(domain);
      await assert.rejects(stack.lifecycle.forget(), { code: "StackDomainExists" });
    }),
  );

  it(
    "is needed for everything but kill and forget",
    examining(makeStack, async ({ stack }) => {
      const { lifecycle } = stack;
      for (const operation of ["pause", "resume", "reset", "shutdown"] as const) {
        await assert.rejects(async () => lifecycle[operation](), { code: "StackDomainNotFound" }, operation);
      }
      await lifecycle.kill();
      await lifecycle.forget();
    }),
  );
}

function endSuite({ it }: TestRunner, makeStack: MakeStack): void {
  it(
    "comes by the power button when the guest obeys",
    examining(makeStack, async ({ stack, domain, log, tell }) => {
      await stack.lifecycle.start(domain);
      await tell("z");
      await stack.lifecycle.shutdown();
      await log.status("Shutoff", "Shutdown");
    }),
  );

  it(
    "does not come by the power button when the guest ignores it",
    examining(makeStack, async ({ stack, domain, log, tell }) => {
      await stack.lifecycle.start(domain);
      await tell("I");
      await stack.lifecycle.shutdown();
      await tell("z");
      assert.equal(stack.lifecycle.domain()?.status.state, "Running");
      await stack.lifecycle.kill();
      await log.status("Shutoff", "Destroyed");
    }),
  );

  it(
    "comes when the guest powers off by itself",
    examining(makeStack, async ({ stack, domain, log, tell }) => {
      await stack.lifecycle.start(domain);
      await tell("Q");
      await log.status("Shutoff", "Shutdown");
    }),
  );

  it(
    "comes by kill, which returns when it has come",
    examining(makeStack, async ({ stack, domain, log }) => {
      await stack.lifecycle.start(domain);
      await stack.lifecycle.kill();
      const status = stack.lifecycle.domain()?.status;
      assert.ok(status !== undefined && hasEnded(status));
      await log.status("Shutoff", "Destroyed");
      await stack.lifecycle.kill();
    }),
  );

  it(
    "comes by kill while the machine is paused",
    examining(makeStack, async ({ stack, domain, log }) => {
      await stack.lifecycle.start(domain, { paused: true });
      await stack.lifecycle.kill();
      await log.status("Shutoff", "Destroyed");
    }),
  );

  it(
    "comes as a crash, with a reason, when the monitor dies",
    examining(makeStack, async ({ stack, domain, log, crashVmm }) => {
      await stack.lifecycle.start(domain);
      await crashVmm();
      const { message } = await log.status("Crashed", "Crashed");
      assert.ok(message !== undefined && message !== "");
      await assert.rejects(async () => stack.lifecycle.pause(), { code: "StackDomainNotFound" });
    }),
  );

  it(
    "comes as a panic when the guest's kernel reports one",
    examining(makeStack, async ({ stack, domain, log, tell }) => {
      await stack.lifecycle.start(domain);
      await tell("P");
      await log.find("guestPanicked");
      await log.status("Crashed", "Panicked");
    }),
  );

  it(
    "leaves nothing that could be done to it",
    examining(makeStack, async ({ stack, domain }) => {
      await stack.lifecycle.start(domain);
      await stack.lifecycle.kill();
      for (const operation of ["pause", "resume", "reset", "shutdown"] as const) {
        await assert.rejects(async () => stack.lifecycle[operation](), { code: "StackDomainNotFound" }, operation);
      }
      assert.equal(stack.lifecycle.domain()?.status.reason, "Destroyed");
    }),
  );

  it(
    "comes with the stack's, which may be told twice",
    examining(makeStack, async ({ stack, domain, log }) => {
      await stack.lifecycle.start(domain);
      await stack.close();
      await log.find("status", (event) => hasEnded(event.status));
      await stack.close();
    }),
  );

  it(
    "is kept until it is forgotten",
    examining(makeStack, async ({ stack, domain, log }) => {
      await stack.lifecycle.start(domain);
      await stack.lifecycle.kill();
      await assert.rejects(stack.lifecycle.start(domain), { code: "StackDomainExists" });
      await stack.lifecycle.forget();
      assert.equal(stack.lifecycle.domain(), undefined);
      log.forget();
      await stack.lifecycle.start(domain);
      await log.status("Running");
    }),
  );
}
