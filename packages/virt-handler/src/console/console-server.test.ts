import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:https";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { handlerClientName, handlerServerName, streamSubprotocol, type VirtualMachineInstance } from "@polyvirt/api";
import { silentLogger, systemClock } from "@polyvirt/core";
import { createCertificateAuthority, issueCertificate, type KeyedCertificate } from "@polyvirt/kube";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { createLauncherDirectory } from "../launcher/launcher-directory.ts";
import type { LauncherView } from "../launcher/launchers.ts";
import { podVolume } from "../testing/launcher-double.ts";
import { NODE, VMI_UID, vmiWith } from "../testing/objects.ts";
import { startConsoleServer, type ConsoleServer } from "./console-server.ts";

const authority = createCertificateAuthority("test");
const issue = (commonName: string, usage: "server" | "client", from = authority) =>
  issueCertificate(from, { commonName, usage, dnsNames: [handlerServerName], days: 1 });
const serverPair = issue(handlerServerName, "server");
const virtApi = issue(handlerClientName, "client");

let root: string;
let server: ConsoleServer;
let serial: Server;
let guests: Socket[];
let vmis: Map<string, VirtualMachineInstance>;
let sent: string[];
let pictureType: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "pv-"));
  const folder = join(podVolume(root, "private"), VMI_UID.slice(0, 8));
  mkdirSync(folder, { recursive: true });
  guests = [];
  serial = createServer((socket) => {
    guests.push(socket);
    socket.on("error", () => {});
    socket.write("login: ");
  });
  await new Promise<void>((resolve) => serial.listen(join(folder, "virt-serial0"), resolve));
  vmis = new Map([["default/hello", vmiWith({ phase: "Running" }, { uid: VMI_UID.slice(0, 8) })]]);
  sent = [];
  pictureType = "image/png";
  const view: LauncherView = {
    state: "connected",
    lostReason: undefined,
    domain: undefined,
    process: undefined,
    // Only these are used here.
    commands: {
      send: async (command: string) => void sent.push(command),
      freeze: async (_vmi: unknown, seconds: number) => void sent.push(`freeze ${seconds}`),
      ask: async (question: string) => ({ kind: question }),
      screenshot: async () => ({ mime: pictureType, data: Buffer.from("picture") }),
    } as unknown as NonNullable<LauncherView["commands"]>,
  };
  server = await startConsoleServer({
    host: "127.0.0.1",
    port: 0,
    nodeName: NODE,
    readCertificate: () =>
      Promise.resolve({ cert: serverPair.certificate, key: serverPair.key, ca: authority.certificate }),
    findVmi: (key) => vmis.get(key),
    launchers: { look: () => Promise.resolve(view) },
    directory: createLauncherDirectory(root),
    clock: systemClock,
    logger: silentLogger,
  });
});
afterEach(async () => {
  await server.close();
  for (const guest of guests) guest.destroy();
  await new Promise<void>((resolve) => serial.close(() => resolve()));
  rmSync(root, { recursive: true });
});

const tls = (pair: KeyedCertificate) => ({
  ca: authority.certificate,
  servername: handlerServerName,
  cert: pair.certificate,
  key: pair.key,
});
const pathOf = (action: string, name = "hello") => `/v1/namespaces/default/virtualmachineinstances/${name}/${action}`;

interface Session {
  readonly socket: WebSocket;
  readonly output: () => string;
  readonly closed: Promise<string>;
}

async function open(action = "console", pair = virtApi): Promise<Session> {
  const socket = new WebSocket(`wss://127.0.0.1:${server.port}${pathOf(action)}`, [streamSubprotocol], tls(pair));
  let output = "";
  socket.on("message", (data: Buffer) => (output += data.toString()));
  const closed = new Promise<string>((resolve) =>
    socket.once("close", (_code: number, reason: Buffer) => resolve(reason.toString())),
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return { socket, output: () => output, closed };
}

interface Answer {
  readonly status: number | undefined;
  readonly message: string | undefined;
  readonly type?: string | undefined;
  readonly text?: string;
}

function call(
  method: string,
  action: string,
  options: { upgrade?: boolean; pair?: KeyedCertificate; body?: string } = {},
): Promise<Answer> {
  const headers =
    options.upgrade === true
      ? {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
        }
      : {};
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: server.port,
        path: action,
        method,
        headers,
        agent: false,
        ...tls(options.pair ?? virtApi),
      },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.once("end", () =>
          resolve(
            response.statusCode === 200 && body !== ""
              ? { status: 200, message: undefined, type: response.headers["content-type"], text: body }
              : {
                  status: response.statusCode,
                  message: body === "" ? undefined : (JSON.parse(body) as { message: string }).message,
                },
          ),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(options.body);
  });
}

describe("a console session", () => {
  it("carries bytes both ways, in binary frames of the right protocol", async () => {
    const { socket, output } = await open();
    expect(socket.protocol).toBe(streamSubprotocol);
    await vi.waitFor(() => expect(output()).toBe("login: "));
    const typed = new Promise<string>((resolve) => guests[0]?.once("data", (data) => resolve(data.toString())));
    socket.send(Buffer.from("root\n"));
    expect(await typed).toBe("root\n");
  });

  it("ends the session before it", async () => {
    const first = await open();
    await vi.waitFor(() => expect(guests).toHaveLength(1));
    const second = await open();
    expect(await first.closed).toBe("another session has begun");
    await vi.waitFor(() => expect(second.output()).toBe("login: "));
    expect(second.socket.readyState).toBe(WebSocket.OPEN);
  });

  it("ends with the guest", async () => {
    const { closed } = await open();
    await vi.waitFor(() => expect(guests).toHaveLength(1));
    guests[0]?.destroy();
    expect(await closed).toBe("the guest's stream has ended");
  });

  it("lets go of the guest when the client leaves", async () => {
    const { socket } = await open();
    await vi.waitFor(() => expect(guests).toHaveLength(1));
    const gone = new Promise<void>((resolve) => guests[0]?.once("close", () => resolve()));
    socket.terminate();
    await gone;
  });

  it("goes on reading from the guest when its client does not", async () => {
    const { socket } = await open();
    await vi.waitFor(() => expect(guests).toHaveLength(1));
    socket.pause();
    // Far more than all the buffers on the way hold: it is only accepted when someone throws the rest away.
    const chunk = Buffer.alloc(1024 * 1024, "x");
    for (let count = 0; count < 64; count++) {
      await new Promise<void>((resolve) => guests[0]?.write(chunk, () => resolve()));
    }
    expect(guests[0]?.writableLength).toBe(0);
    socket.terminate();
  }, 20_000);
});

describe("refusals", () => {
  it.each([
    ["an unknown VMI", pathOf("console", "nope"), 404, "VMI default/nope is not on node node-1"],
    ["an unknown stream", pathOf("telnet"), 404, `${pathOf("telnet")} is not served`],
    ["a stream that the guest does not have", pathOf("vnc"), 400, "No graphics devices are present."],
    ["another path", "/etc/passwd", 404, "/etc/passwd is not served"],
  ])("says why for %s", async (_name, path, status, message) => {
    expect(await call("GET", path, { upgrade: true })).toEqual({ status, message });
  });

  it("refuses a VMI that does not run", async () => {
    vmis.set("default/hello", vmiWith({ phase: "Scheduled" }));
    expect(await call("GET", pathOf("console"), { upgrade: true })).toEqual({
      status: 409,
      message: "VMI is not running",
    });
  });

  it("refuses other clients of the same authority", async () => {
    const pair = issue("system:node:node-1", "client");
    expect(await call("GET", pathOf("console"), { upgrade: true, pair })).toEqual({
      status: 403,
      message: "only virt-api may connect",
    });
    expect(await call("PUT", pathOf("pause"), { pair })).toMatchObject({ status: 403 });
  });

  it("refuses clients of another authority during the handshake", async () => {
    const pair = issue(handlerClientName, "client", createCertificateAuthority("test"));
    await expect(call("PUT", pathOf("pause"), { pair })).rejects.toThrow(/alert|reset|closed|hang up/i);
    expect(sent).toEqual([]);
  });
});

describe("commands", () => {
  it.each(["pause", "unpause", "reset", "softreboot", "unfreeze"])("passes on %s", async (command) => {
    expect(await call("PUT", pathOf(command))).toEqual({ status: 200, message: undefined });
    expect(sent).toEqual([command]);
  });

  it("does not take a command by another method, or one it does not know", async () => {
    expect(await call("GET", pathOf("pause"))).toMatchObject({ status: 404 });
    expect(await call("PUT", pathOf("kill"))).toMatchObject({ status: 404 });
    expect(sent).toEqual([]);
  });
});

describe("freezing", () => {
  it.each([
    ["5m0s", 300],
    ["1500ms", 2],
    ["0s", 0],
    ["1000000h", 2 ** 31 - 1],
  ])("has the limit %s", async (unfreezeTimeout, seconds) => {
    const body = JSON.stringify({ unfreezeTimeout });
    expect(await call("PUT", pathOf("freeze"), { body })).toMatchObject({ status: 200 });
    expect(sent).toEqual([`freeze ${seconds}`]);
  });

  it.each([
    ["nothing", undefined, 400, "freezing needs a limit"],
    ["no limit", "{}", 400, "freezing needs a limit"],
    ["a limit that is a number", '{"unfreezeTimeout": 5}', 400, "freezing needs a limit"],
    ["a limit that is none", '{"unfreezeTimeout": "soon"}', 400, '"soon" is not a duration'],
    ["a limit in the past", '{"unfreezeTimeout": "-5s"}', 400, '"-5s" is not a duration'],
    ["no JSON", "{", 400, "the body is not JSON"],
    ["too much", `"${"x".repeat(70_000)}"`, 413, "larger than 65536 bytes"],
  ])("refuses %s", async (_what, body, status, message) => {
    const answer = await call("PUT", pathOf("freeze"), body === undefined ? {} : { body });
    expect(answer).toEqual({ status, message: expect.stringContaining(message) });
    expect(sent).toEqual([]);
  });
});

describe("questions", () => {
  it.each(["guestosinfo", "userlist", "filesystemlist"])("passes on the answer to %s", async (question) => {
    const answer = await call("GET", pathOf(question));
    expect(answer).toMatchObject({ status: 200, type: "application/json", text: JSON.stringify({ kind: question }) });
  });

  it("serves a picture of the screen", async () => {
    const answer = await call("GET", pathOf("vnc/screenshot"));
    expect(answer).toMatchObject({ status: 200, type: "image/png", text: "picture" });
  });

  it("lets no launcher choose what a browser makes of a picture", async () => {
    pictureType = "text/html";
    const answer = await call("GET", pathOf("vnc/screenshot"));
    expect(answer).toMatchObject({ status: 200, type: "application/octet-stream" });
  });

  it("says that there is no screen whose pointer could be moved", async () => {
    expect(await call("GET", `${pathOf("vnc/screenshot")}?moveCursor=true`)).toEqual({
      status: 400,
      message: "No graphics devices are present.",
    });
  });
});
