import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { expect, it } from "vitest";
import { peerCredentials } from "./peer-credentials.ts";

it("says which process is at the other end of a unix socket", async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "peer-"));
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(path.join(directory, "s"), resolve));
  const accepted = new Promise<net.Socket>((resolve) => server.once("connection", resolve));
  const client = net.connect(path.join(directory, "s"));
  const socket = await accepted;
  expect(peerCredentials(socket)).toEqual({ pid: process.pid, uid: process.getuid?.(), gid: process.getgid?.() });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.destroy();
  client.destroy();
  await closed;
  expect(() => peerCredentials(socket)).toThrow(/not connected/);
  await new Promise((resolve) => server.close(resolve));
  fs.rmSync(directory, { recursive: true });
});
