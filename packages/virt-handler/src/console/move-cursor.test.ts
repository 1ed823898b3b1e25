import { connect, createServer, type Server, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moveCursor } from "./move-cursor.ts";

let folder: string;
let server: Server;
let screens: Socket[];
/** What the screen says first, and after each thing that it hears. */
let words: Buffer[];
let heard: Buffer[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pv-"));
  screens = [];
  heard = [];
  server = createServer((screen) => {
    screens.push(screen);
    const script = [...words];
    const speak = () => {
      const next = script.shift();
      if (next !== undefined) screen.write(next);
    };
    speak();
    screen.on("error", () => {});
    screen.on("data", (data) => {
      heard.push(data);
      speak();
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, "vnc"), resolve));
});
afterEach(async () => {
  for (const screen of screens) screen.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  rmSync(folder, { recursive: true });
});

const greeting = Buffer.from("RFB 003.008\n");
const open = Uint8Array.of(1, 1);
const welcome = Buffer.alloc(4);
const size = (width: number) => {
  const message = Buffer.alloc(28);
  message.writeUInt16BE(width, 0);
  message.writeUInt16BE(400, 2);
  return message;
};

describe("moveCursor", () => {
  it("moves the pointer and back, sharing the screen", async () => {
    words = [greeting, Buffer.from(open), welcome, size(720)];
    await moveCursor(connect(join(folder, "vnc")));
    expect(Buffer.concat(heard)).toEqual(
      Buffer.concat([greeting, Buffer.from([1, 1, 5, 0, 0, 1, 0, 0, 5, 0, 0, 0, 0, 0])]),
    );
  });

  it.each<[string, Buffer[], string]>([
    ["wants a password", [greeting, Buffer.from([1, 2])], "the screen wants a password"],
    ["refuses", [greeting, Buffer.from(open), Buffer.from([0, 0, 0, 1])], "the screen lets nobody in"],
  ])("fails when the screen %s", async (_what, script, message) => {
    words = script;
    await expect(moveCursor(connect(join(folder, "vnc")))).rejects.toThrow(message);
  });

  it("fails when the screen hangs up", async () => {
    words = [];
    server.once("connection", (screen) => screen.end("RFB"));
    await expect(moveCursor(connect(join(folder, "vnc")))).rejects.toThrow("the screen hung up");
  });
});
