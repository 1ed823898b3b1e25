/** Everything that is asked of a guest's agent, of agents that lie, babble or say nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock } from "@polyvirt/core/testing";
import { QemuAgent } from "@polyvirt/stack";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentConnection } from "./agent-connection.ts";

const password = "correct horse battery staple";

const operations: Readonly<Record<string, (agent: QemuAgent) => Promise<unknown>>> = {
  condition: (agent) => agent.condition(),
  ping: (agent) => agent.ping(1_000),
  info: (agent) => agent.info(),
  users: (agent) => agent.users(),
  filesystems: (agent) => agent.filesystems(),
  exec: (agent) => agent.exec("true", [], 1_000),
  freeze: (agent) => agent.freeze(),
  thaw: (agent) => agent.thaw(),
  reboot: (agent) => agent.reboot(),
  addAuthorizedKeys: (agent) => agent.addAuthorizedKeys("root", ["ssh-rsa A"]),
  removeAuthorizedKeys: (agent) => agent.removeAuthorizedKeys("root", ["ssh-rsa A"]),
  setPassword: (agent) => agent.setPassword("root", password),
};

const many = <T>(item: T): T[] => Array.from({ length: 5_000 }, () => item);
const long = "x".repeat(100_000);
const everything = {
  version: long,
  supported_commands: many({ name: "guest-get-users", enabled: true }),
  pid: 1,
  exited: true,
  exitcode: 1e300,
  "out-data": Buffer.from(long).toString("base64"),
};

/** What an agent writes instead of an answer; undefined for nothing at all. */
const lies: Readonly<Record<string, string | undefined>> = {
  "says nothing": undefined,
  "speaks no JSON": "login: \n",
  "never ends its line": "y".repeat(2 * 1024 * 1024),
  "answers with nothing": '{"return": null}\n',
  "answers with a number": '{"return": -1}\n',
  "answers with lists of nonsense": `${JSON.stringify({ return: many([null]) })}\n`,
  "answers with too much of everything": `${JSON.stringify({ return: everything })}\n`,
  "answers with endless lists": `${JSON.stringify({ return: many({ user: "u", mountpoint: "/m", disk: many({}) }).slice(0, 20) })}\n`,
  "answers deeply": `{"return": ${"[".repeat(5_000)}${"]".repeat(5_000)}}\n`,
  "refuses without end": `${JSON.stringify({ error: { desc: long } })}\n`,
  "refuses with nonsense": '{"error": 7}\n',
  "answers more than it was asked": '{"return": {}}\n{"return": {}}\n{"return": {}}\n',
};

let directory: string;
let server: Server;
let connection: AgentConnection;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "agent-"));
});
afterEach(async () => {
  connection.close();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

/** Synchronizes as the real one does, and lies about the rest. */
async function start(words: string | undefined) {
  server = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const line of chunk.toString("latin1").replaceAll("\u00ff", "").split("\n").filter(Boolean)) {
        const { execute, arguments: args } = JSON.parse(line);
        if (execute === "guest-sync") socket.write(`${JSON.stringify({ return: args.id })}\n`);
        else if (words !== undefined) socket.write(words);
      }
    });
  });
  const path = join(directory, "agent");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const clock = createManualClock();
  connection = new AgentConnection(path, clock);
  const agent = new QemuAgent(
    { isOpen: () => true, execute: (command, args, limitMs) => connection.execute(command, args, limitMs) },
    clock,
  );
  return { agent, clock };
}

const cases = Object.keys(lies).flatMap((lie) => Object.keys(operations).map((operation) => [lie, operation] as const));

describe("an agent that", () => {
  it.each(cases)("%s: %s ends in time, with little and nothing secret", async (lie, operation) => {
    const { agent, clock } = await start(lies[lie]);
    let outcome: unknown;
    const settled = operations[operation]?.(agent).then(
      (value) => (outcome = { value }),
      (error: unknown) => (outcome = { error }),
    );
    // Two minutes of the clock are more than any limit; real time passes only for the bytes to arrive.
    await expect
      .poll(
        async () => {
          await clock.advance(outcome === undefined ? 500 : 0);
          return outcome;
        },
        { interval: 1, timeout: 20_000 },
      )
      .toBeDefined();
    await settled;
    expect(clock.monotonic()).toBeLessThan(120_000);
    const { value, error } = outcome as { value?: unknown; error?: Error };
    expect(JSON.stringify(value ?? null).length).toBeLessThan(128 * 1024);
    const words = error?.message ?? "";
    expect(words.length).toBeLessThan(700);
    expect(words).not.toContain(password);
    expect(words).not.toContain(Buffer.from(password).toString("base64"));
    expect((error as { code?: string } | undefined)?.code ?? "Stack").toMatch(/^Stack/);
  });
});
