import { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { connectQmp, type QmpEvent } from "./qmp-client.ts";

const greeting = { QMP: { version: { qemu: { major: 7, minor: 2, micro: 22 } }, capabilities: ["oob"] } };

/** The other end of the monitor socket, and a clock whose timers fire when the test says so. */
class FakeQemu {
  readonly events: QmpEvent[] = [];
  readonly commands: { execute: string; arguments: unknown; id: number }[] = [];
  readonly timers = new Set<() => void>();
  answer: (command: string) => object | undefined = () => ({ return: {} });
  readonly connection = new Duplex({
    read() {},
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString().split("\n").filter(Boolean)) {
        const command = JSON.parse(line);
        this.commands.push(command);
        const answer = this.answer(command.execute);
        if (answer !== undefined) this.send({ ...answer, id: command.id });
      }
      done();
    },
  });

  send(message: unknown): void {
    this.connection.push(`${JSON.stringify(message)}\r\n`);
  }

  connect() {
    return connectQmp({
      connection: this.connection,
      timeoutMs: 1000,
      onEvent: (event) => this.events.push(event),
      clock: {
        setTimer: (_delay, callback) => {
          this.timers.add(callback);
          return { cancel: () => this.timers.delete(callback) };
        },
      },
    });
  }
}

async function connected(qemu = new FakeQemu()) {
  const connecting = qemu.connect();
  qemu.send(greeting);
  return { qemu, client: await connecting };
}

describe("connectQmp", () => {
  it("reads the version from the greeting and leaves negotiation mode", async () => {
    const { qemu, client } = await connected();
    expect(client.version).toBe("7.2.22");
    expect(qemu.commands.map((command) => command.execute)).toEqual(["qmp_capabilities"]);
    expect(qemu.timers.size).toBe(0);
  });

  it("gives up when no greeting comes", async () => {
    const qemu = new FakeQemu();
    const connecting = qemu.connect();
    for (const fire of qemu.timers) fire();
    await expect(connecting).rejects.toMatchObject({ code: "StackTimeout" });
  });

  it("matches answers to commands by id, in any order", async () => {
    const { qemu, client } = await connected();
    qemu.answer = () => undefined;
    const first = client.execute("query-a");
    const second = client.execute("query-b", { x: 1 });
    const [a, b] = qemu.commands.slice(-2);
    qemu.send({ return: "B", id: b?.id });
    qemu.send({ return: "A", id: a?.id });
    expect(await Promise.all([first, second])).toEqual(["A", "B"]);
    expect(b?.arguments).toEqual({ x: 1 });
  });

  it("turns QEMU's refusal into an error with its words", async () => {
    const { qemu, client } = await connected();
    qemu.answer = () => ({ error: { class: "GenericError", desc: "Device 'x' not found" } });
    await expect(client.execute("device_del", { id: "x" })).rejects.toMatchObject({
      code: "StackCommandFailed",
      message: "run QMP command device_del: Device 'x' not found",
      fields: { class: "GenericError" },
    });
  });

  it("gives up on one command without losing the others", async () => {
    const { qemu, client } = await connected();
    qemu.answer = () => undefined;
    const slow = client.execute("slow");
    const [fire] = qemu.timers;
    fire?.();
    await expect(slow).rejects.toMatchObject({ code: "StackTimeout", retry: true });
    qemu.send({ return: "late", id: qemu.commands.at(-1)?.id });
    qemu.answer = () => ({ return: "ok" });
    expect(await client.execute("next")).toBe("ok");
  });

  it("hands on events in order, between answers", async () => {
    const { qemu, client } = await connected();
    qemu.send({ event: "STOP", timestamp: {} });
    qemu.send({ event: "SHUTDOWN", data: { guest: true } });
    await client.execute("query-status");
    expect(qemu.events).toEqual([
      { name: "STOP", data: {} },
      { name: "SHUTDOWN", data: { guest: true } },
    ]);
  });

  it.each([
    ["QEMU ends", (qemu: FakeQemu) => qemu.connection.destroy()],
    ["the connection breaks", (qemu: FakeQemu) => qemu.connection.destroy(new Error("EPIPE"))],
    ["QEMU sends nonsense", (qemu: FakeQemu) => qemu.connection.push("Segmentation fault\n")],
  ])("fails what is under way and all that follows when %s", async (_name, breakIt) => {
    const { qemu, client } = await connected();
    qemu.answer = () => undefined;
    const under = client.execute("query-status");
    breakIt(qemu);
    await expect(under).rejects.toMatchObject({ code: "StackVmmGone" });
    await expect(client.execute("query-status")).rejects.toMatchObject({ code: "StackVmmGone" });
    expect(qemu.timers.size).toBe(0);
  });
});
