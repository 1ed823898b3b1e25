import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "@polyvirt/core/testing";
import { LibvirtConnection, type LibvirtEvent } from "./libvirt-connection.ts";
import { header, headerBytes, MessageReader, messageTypes, statuses, type Header } from "./message.ts";
import { errorMessage, events, keepalive, keepaliveProcedures, procedures } from "./remote-program.ts";
import { decode, encode } from "./xdr.ts";

/** A daemon that answers calls as the test says; those that open a connection succeed. */
let answer: (head: Header, body: Buffer, socket: Socket) => void;
let directory: string;
let server: Server;
let socket: Socket;
const heard: Header[] = [];
const told: LibvirtEvent[] = [];
let lost = 0;
const clock = createManualClock();
const opening = new Set(
  [procedures.authList, procedures.connectOpen, procedures.connectSupportsFeature].map((row) => row.number),
);

function send(head: Partial<Header>, body: Buffer = Buffer.alloc(0)): void {
  const full = {
    program: 0x20008086,
    version: 1,
    procedure: 0,
    type: messageTypes.reply,
    serial: 0,
    status: statuses.ok,
  };
  const bytes = Buffer.concat([encode(header, { ...full, ...head }), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length + 4);
  // In two pieces: messages do not arrive as they were sent.
  socket.write(length);
  socket.write(bytes);
}

const open = () =>
  LibvirtConnection.open({
    socketPath: join(directory, "sock"),
    clock,
    onEvent: (event) => told.push(event),
    onClose: () => (lost += 1),
  });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "rpc-"));
  heard.length = 0;
  told.length = 0;
  lost = 0;
  answer = () => {};
  server = createServer((client) => {
    socket = client;
    const reader = new MessageReader();
    client.on("error", () => {});
    client.on("data", (chunk: Buffer) => {
      for (const message of reader.push(chunk)) {
        const head = decode(header, message);
        heard.push(head);
        if (!opening.has(head.procedure)) answer(head, message.subarray(headerBytes), client);
        else send({ ...head, type: messageTypes.reply }, Buffer.alloc(8));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(join(directory, "sock"), resolve));
});

afterEach(async () => {
  socket.destroy();
  server.close();
  await rm(directory, { recursive: true });
});

const ask = (connection: LibvirtConnection) =>
  connection.call(procedures.connectGetVersion, undefined, { operation: "ask for the version", timeoutMs: 1_000 });

describe("a connection to libvirt", () => {
  it("matches answers to calls by their numbers, in any order", async () => {
    const connection = await open();
    const calls: Header[] = [];
    answer = (head) => {
      if (calls.push(head) < 2) return;
      for (const call of calls.toReversed()) {
        const version = Buffer.alloc(8);
        version.writeBigUInt64BE(BigInt(call.serial));
        send({ ...call, type: messageTypes.reply }, version);
      }
    };
    const [first, second] = await Promise.all([ask(connection), ask(connection)]);
    expect(second.version - first.version).toBe(1n);
    connection.close();
  });

  it("turns refusals into the errors of the contract", async () => {
    const connection = await open();
    answer = (head) => {
      const nothing = { subject: undefined, text1: undefined, text2: undefined, text3: undefined, network: undefined };
      const body = { code: 42, domain: 10, message: "no domain", level: 2, number1: 0, number2: 0, ...nothing };
      send({ ...head, type: messageTypes.reply, status: statuses.error }, encode(errorMessage, body));
    };
    await expect(ask(connection)).rejects.toMatchObject({
      code: "StackDomainNotFound",
      message: "ask for the version: no domain",
    });
    connection.close();
  });

  it("answers pings and passes events on", async () => {
    const connection = await open();
    const domain = { name: "vm", uuid: Buffer.alloc(16, 7), id: 1 };
    send({ program: keepalive.number, procedure: keepaliveProcedures.ping, type: messageTypes.message });
    const body = encode(events.lifecycle.message, { callbackId: 0, body: { domain, event: 5, detail: 1 } });
    send({ procedure: events.lifecycle.number, type: messageTypes.message }, body);
    await expect.poll(() => told.length).toBe(1);
    expect(told[0]).toMatchObject({
      name: "lifecycle",
      message: { body: { domain: { name: "vm" }, event: 5, detail: 1 } },
    });
    await expect
      .poll(() => heard.at(-1))
      .toMatchObject({ program: keepalive.number, procedure: keepaliveProcedures.pong });
    connection.close();
  });

  it("waits no longer than it was told", async () => {
    const connection = await open();
    const failure = ask(connection).catch((error: unknown) => error);
    await clock.advance(1_001);
    expect(await failure).toMatchObject({ code: "StackTimeout" });
    connection.close();
  });

  it("tells everybody who waits when the daemon is gone, or does not speak libvirt's protocol", async () => {
    for (const end of [() => socket.destroy(), () => void socket.write(Buffer.from("HTTP/1.1 400 Bad Request\r\n"))]) {
      const connection = await open();
      answer = end;
      await expect(ask(connection)).rejects.toMatchObject({ code: "StackDaemonLost" });
      await expect(ask(connection)).rejects.toMatchObject({ code: "StackDaemonLost" });
    }
    expect(lost).toBe(2);
  });
});
