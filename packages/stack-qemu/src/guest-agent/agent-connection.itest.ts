import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "@polyvirt/core/testing";
import { AgentConnection } from "./agent-connection.ts";

type Answer = (request: { execute: string; arguments?: { id?: number } }, socket: Socket) => void;

let directory: string;
let server: Server;
let connection: AgentConnection;
const clock = createManualClock();
const reply = (socket: Socket, value: unknown): boolean => socket.write(`${JSON.stringify(value)}\n`);

/** What the real agent says to the byte that ends a half command. */
const flushed = { error: { class: "GenericError", desc: "Invalid JSON syntax" } };

/** An agent that synchronizes as the real one does and answers everything else as the test says. */
async function agent(answer: Answer): Promise<AgentConnection> {
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const text = chunk.toString("latin1").replaceAll("\u00ff", "");
      if (chunk.includes(0xff)) reply(socket, flushed);
      for (const line of text.split("\n").filter(Boolean)) {
        const request = JSON.parse(line);
        if (request.execute === "guest-sync") reply(socket, { return: request.arguments.id });
        else answer(request, socket);
      }
    });
  });
  const path = join(directory, "agent");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  connection = new AgentConnection(path, clock);
  return connection;
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "agent-"));
});

afterEach(async () => {
  connection.close();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

describe("AgentConnection", () => {
  it("asks one thing at a time, in order", async () => {
    const asked: string[] = [];
    const client = await agent(({ execute }, socket) => {
      asked.push(execute);
      reply(socket, { return: execute });
    });
    const answers = await Promise.all(
      ["guest-ping", "guest-info"].map((command) => client.execute(command, undefined, 1000)),
    );
    expect(answers).toEqual(["guest-ping", "guest-info"]);
    expect(asked).toEqual(["guest-ping", "guest-info"]);
  });

  it("hands on the agent's refusal", async () => {
    const client = await agent((_request, socket) =>
      reply(socket, { error: { class: "GenericError", desc: "disabled" } }),
    );
    await expect(client.execute("guest-exec", {}, 1000)).rejects.toMatchObject({
      code: "StackCommandFailed",
      message: "run guest-exec in the guest: disabled",
    });
  });

  it("gives up on a silent agent, and does not mistake its late answer for another's", async () => {
    let late: (() => void) | undefined;
    const client = await agent(({ execute }, socket) => {
      if (execute === "slow") late = () => reply(socket, { return: "late" });
      else reply(socket, { return: "right" });
    });
    const slow = client.execute("slow", undefined, 1000);
    await expect.poll(() => late).toBeDefined();
    const failure = slow.catch((error: unknown) => error);
    await clock.advance(1000);
    expect(await failure).toMatchObject({ code: "StackGuestAgentUnavailable", retry: true });
    late?.();
    expect(await client.execute("next", undefined, 1000)).toBe("right");
  });

  it.each([
    ["nonsense", "hello there\n"],
    ["an endless line", "x".repeat(2 * 1024 * 1024)],
  ])("ends the conversation when the guest writes %s, and can begin another", async (_name, words) => {
    let sane = false;
    const client = await agent((_request, socket) => (sane ? reply(socket, { return: "sane" }) : socket.write(words)));
    await expect(client.execute("guest-info", undefined, 1000)).rejects.toMatchObject({
      code: "StackGuestAgentUnavailable",
    });
    sane = true;
    expect(await client.execute("guest-info", undefined, 1000)).toBe("sane");
  });

  it("fails what is under way when the channel closes", async () => {
    const client = await agent((_request, socket) => void socket.destroy());
    await expect(client.execute("guest-info", undefined, 1000)).rejects.toMatchObject({
      code: "StackGuestAgentUnavailable",
    });
    expect(clock.pendingTimers()).toBe(0);
  });
});
