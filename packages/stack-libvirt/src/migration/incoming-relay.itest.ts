import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openRelay, type IncomingRelay } from "./incoming-relay.ts";

let directory: string;
let relay: IncomingRelay;
let servers: Server[];
let arrivals: number;
const path = (name: string): string => join(directory, name);

/** Answers, when somebody has said everything, with its own name and the number of bytes that it heard. */
async function listen(name: string): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    arrivals += 1;
    let heard = 0;
    socket.on("data", (chunk: Buffer) => (heard += chunk.length));
    socket.on("end", () => socket.end(`${name} heard ${heard}`));
    socket.on("error", () => socket.destroy());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path(name), resolve));
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "relay-"));
  servers = [];
  arrivals = 0;
  await listen("daemon");
  await listen("machine");
  relay = await openRelay(path("move"), { daemon: path("daemon"), machine: path("machine") });
});

afterEach(async () => {
  relay.close();
  for (const server of servers) server.close();
  await rm(directory, { recursive: true });
});

async function say(...pieces: readonly Buffer[]): Promise<string> {
  const socket = connect({ path: path("move"), allowHalfOpen: true });
  for (const piece of pieces) {
    socket.write(piece);
    // So that it arrives by itself.
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end();
  return text(socket);
}

const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once("close", resolve));
const call = Buffer.from("0000001c2000808600000001", "hex");

it("brings messages to the daemon and machines to QEMU, whatever the pieces are", async () => {
  expect(await say(call)).toBe("daemon heard 12");
  expect(await say(call.subarray(0, 3), call.subarray(3, 7), call.subarray(7))).toBe("daemon heard 12");
  expect(await say(Buffer.from("QEVM\0\0\0\u0003"))).toBe("machine heard 8");
});

it("loses nothing of what was sent before somebody left", async () => {
  const state = Buffer.alloc(8 * 1024 * 1024, 7);
  expect(await say(Buffer.from("QEVM"), state)).toBe(`machine heard ${4 + state.length}`);
});

it("lets somebody go who has said nothing, or whom nobody wants", async () => {
  expect(await say(Buffer.from("QE"))).toBe("");
  await rm(path("machine"));
  const socket = connect(path("move"));
  socket.on("error", () => socket.destroy());
  socket.write(Buffer.from("QEVM0000"));
  expect(await closed(socket)).toBeTypeOf("boolean");
});

it("lets those finish who are in when it lets nobody in any more", async () => {
  const socket = connect({ path: path("move"), allowHalfOpen: true });
  socket.write("QEVM0000");
  // Both directions work: it is in.
  await expect.poll(() => arrivals, { timeout: 5_000 }).toBe(1);
  relay.refuse();
  const late = connect(path("move"));
  const refused = await new Promise((resolve) => late.once("error", resolve));
  expect(refused).toMatchObject({ code: expect.stringMatching(/ENOENT|ECONNREFUSED/) });
  socket.end("and the rest");
  expect(await text(socket)).toBe("machine heard 20");
});

it("ends with everything in it", async () => {
  const socket = connect(path("move"));
  await once(socket, "connect");
  socket.on("error", () => socket.destroy());
  socket.write(call);
  relay.close();
  expect(await closed(socket)).toBeTypeOf("boolean");
});
