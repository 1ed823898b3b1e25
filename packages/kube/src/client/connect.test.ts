import { createServer, type Server } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configMaps } from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { fixedCredentials } from "../config/connection.ts";
import { createKubeClient } from "./client.ts";
import type { KubeClient } from "./kube-client.ts";

let server: Server;
let sockets: WebSocketServer;
let directory: string;
const clients: KubeClient[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pv-"));
  sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0] ?? false });
  server = createServer((request, response) => response.end(JSON.stringify({ metadata: { name: request.url } })));
  server.on("upgrade", (request, socket, head) => {
    if (request.url?.startsWith("/refused") === true) {
      const body = JSON.stringify({
        kind: "Status",
        status: "Failure",
        reason: "Conflict",
        message: "VMI is not running",
      });
      socket.end(`HTTP/1.1 409 Conflict\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (socketServer) => {
      socketServer.send(`${request.headers.authorization} ${socketServer.protocol}`);
      socketServer.on("message", (data: Buffer) => socketServer.send(data));
    });
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const socket of sockets.clients) socket.terminate();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  rmSync(directory, { recursive: true });
});

function clientOf(address: string): KubeClient {
  const client = createKubeClient({
    clock: systemClock,
    logger: silentLogger,
    connection: { server: address, namespace: "default", credentials: fixedCredentials({ token: "t" }) },
  });
  clients.push(client);
  return client;
}

async function onTcp(): Promise<KubeClient> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

async function onUnixSocket(): Promise<KubeClient> {
  const path = join(directory, "api.sock");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return clientOf(`unix://${path}`);
}

const text = (data: unknown) => String(data);

describe.each([
  ["TCP", onTcp],
  ["a unix socket", onUnixSocket],
])("over %s", (_name, open) => {
  it("answers requests", async () => {
    const client = await open();
    const object = await client.get(configMaps, "a");
    expect(object.metadata.name).toBe("/api/v1/namespaces/default/configmaps/a");
  });

  it("opens a WebSocket with our identity and the protocol", async () => {
    const client = await open();
    const socket = await client.connect("/apis/x/console", { protocols: ["plain.kubevirt.io"] });
    const greeting = new Promise((resolve) => socket.once("message", resolve));
    expect(text(await greeting)).toBe("Bearer t plain.kubevirt.io");
    const echo = new Promise((resolve) => socket.once("message", resolve));
    socket.send("hi");
    expect(text(await echo)).toBe("hi");
    socket.close();
  });

  it("passes on the server's refusal", async () => {
    const client = await open();
    await expect(client.connect("/refused")).rejects.toMatchObject({
      code: "KubeConflict",
      message: "connect /refused: VMI is not running",
    });
  });
});

it("says when nobody is there", async () => {
  const client = clientOf("http://127.0.0.1:1");
  await expect(client.connect("/x")).rejects.toMatchObject({ code: "KubeUpgradeRefused" });
});

it("refuses an address that it cannot understand", () => {
  expect(() => clientOf("ftp://x")).toThrow(/expected https:\/\/HOST:PORT/);
});
