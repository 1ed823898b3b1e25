import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpsServer, request as httpsRequest } from "node:https";
import { createSocket } from "node:dgram";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import type { TLSSocket } from "node:tls";
import { join } from "node:path";
import type { KubeVirt, VirtualMachineInstance } from "@polyvirt/api";
import { handlerClientName, handlerServerName, streamSubprotocol } from "@polyvirt/api";
import type { ConfigMap, KubeObject, Pod, ResourceType, Status, SubjectAccessReview } from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { registry } from "@polyvirt/hypervisor";
import { createCertificateAuthority, issueCertificate, KubeStatusError } from "@polyvirt/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { composeVirtApi, type VirtApiDeps } from "./compose.ts";

const clusterCa = createCertificateAuthority("front-proxy-ca");
const proxyCertificate = issueCertificate(clusterCa, { commonName: "front-proxy-client", usage: "client", days: 1 });
const ownCa = createCertificateAuthority("kubevirt.io");

const vmi: VirtualMachineInstance = {
  metadata: { name: "hello", namespace: "default" },
  spec: { domain: { devices: {} }, networks: [{ name: "default", pod: {} }] },
  status: {
    phase: "Running",
    nodeName: "n1",
    interfaces: [{ name: "default", ipAddress: "127.0.0.1" }],
    conditions: [{ type: "AgentConnected", status: "True" }],
  },
};
const stopped: VirtualMachineInstance = { ...vmi, metadata: { name: "stopped", namespace: "default" }, status: {} };
const silent: VirtualMachineInstance = {
  ...vmi,
  metadata: { name: "silent", namespace: "default" },
  spec: { domain: { devices: { autoattachSerialConsole: false } } },
};

const handlerPod: Pod = {
  metadata: { name: "virt-handler-x", namespace: "kubevirt", resourceVersion: "1" },
  spec: { nodeName: "n1", containers: [] },
  status: { podIP: "127.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
};
const kubevirt: KubeVirt = { metadata: { name: "kubevirt", namespace: "kubevirt", resourceVersion: "1" }, spec: {} };
const authenticationMap: ConfigMap = {
  metadata: { name: "extension-apiserver-authentication", namespace: "kube-system" },
  data: {
    "requestheader-client-ca-file": clusterCa.certificate,
    "requestheader-allowed-names": '["front-proxy-client"]',
  },
};

/** Answers from a fixed set of objects; only "ann" may do anything. */
function fakeClient(reviews: SubjectAccessReview[]): VirtApiDeps["client"] {
  const objects: Readonly<Record<string, KubeObject[]>> = {
    kubevirts: [kubevirt],
    pods: [handlerPod],
    configmaps: [authenticationMap],
    virtualmachineinstances: [vmi, stopped, silent],
  };
  return {
    async get<T extends KubeObject>(type: ResourceType<T>, name: string) {
      const found = objects[type.plural]?.find(({ metadata }) => metadata.name === name);
      if (found === undefined) {
        const status: Status = { apiVersion: "v1", kind: "Status", status: "Failure", reason: "NotFound", code: 404 };
        throw new KubeStatusError("KubeNotFound", "get", { status, httpStatus: 404 });
      }
      return found as T; // The table holds objects of the kind it is asked for.
    },
    async list<T extends KubeObject>(type: ResourceType<T>) {
      return { metadata: { resourceVersion: "1" }, items: (objects[type.plural] ?? []) as T[] };
    },
    watch: (_type, options) => ({
      [Symbol.asyncIterator]: () => ({
        async next() {
          await new Promise((resolve) => options?.signal?.addEventListener("abort", resolve));
          return { done: true, value: undefined };
        },
      }),
    }),
    async create<T extends KubeObject>(_type: ResourceType<T>, object: T) {
      const review = object as unknown as SubjectAccessReview; // The only kind that virt-api creates.
      reviews.push(review);
      return { ...object, status: { allowed: review.spec.user === "ann" } };
    },
    patch: () => Promise.reject(new Error("nothing is changed in these tests")),
  };
}

async function writeCertificates(folder: string, name: string, usage: "server" | "client"): Promise<string> {
  const pair = issueCertificate(ownCa, { commonName: name, dnsNames: [name], usage, days: 1 });
  await writeFile(join(folder, "tls.crt"), pair.certificate);
  await writeFile(join(folder, "tls.key"), pair.key);
  await writeFile(join(folder, "ca.crt"), ownCa.certificate);
  return folder;
}

/** Stands in for virt-handler: asks for our client certificate and echoes what is typed. */
async function startHandler() {
  const pair = issueCertificate(ownCa, {
    commonName: handlerServerName,
    dnsNames: [handlerServerName],
    usage: "server",
    days: 1,
  });
  const server = createHttpsServer({ cert: pair.certificate, key: pair.key, ca: ownCa.certificate, requestCert: true });
  const sockets = new WebSocketServer({ server, handleProtocols: () => streamSubprotocol });
  const seen: { path: string | undefined; client: unknown }[] = [];
  const commands: string[] = [];
  server.on("request", (request, response) => {
    commands.push(`${request.method} ${request.url}`);
    if (request.url?.endsWith("/reset") === true) response.writeHead(409).end('{"message":"the handler says no"}');
    else if (request.url?.endsWith("/userlist") === true) response.end('{"kind":"UserList"}');
    else if (request.url?.endsWith("/filesystemlist") === true) response.destroy();
    else response.end();
  });
  sockets.on("connection", (socket, request) => {
    const peer = (request.socket as TLSSocket).getPeerCertificate();
    seen.push({ path: request.url, client: peer.subject.CN });
    socket.on("message", (data: Buffer) => socket.send(Buffer.concat([Buffer.from("echo "), data])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, seen, commands, close };
}

describe("virt-api", () => {
  const stop = new AbortController();
  const reviews: SubjectAccessReview[] = [];
  let port = 0;
  let running: Promise<void> | undefined;
  let handler: Awaited<ReturnType<typeof startHandler>>;
  let folders: string[] = [];

  beforeAll(async () => {
    handler = await startHandler();
    folders = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), "virt-api-"))));
    const [server = "", client = ""] = folders;
    await writeCertificates(server, "virt-api.kubevirt.svc", "server");
    await writeCertificates(client, handlerClientName, "client");
    const api = composeVirtApi({
      client: fakeClient(reviews),
      clock: systemClock,
      logger: silentLogger,
      hypervisors: registry,
      namespace: "kubevirt",
      address: "127.0.0.1",
      port: 0,
      serverCertificates: server,
      handlerCertificates: client,
      handlerPort: handler.port,
      architecture: "amd64",
      version: "0.1.0",
    });
    port = await new Promise<number>((resolve, reject) => {
      running = api.run(stop.signal, resolve);
      running.catch(reject);
    });
  });

  afterAll(async () => {
    stop.abort();
    await running;
    handler.close();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
  });

  const tls = { ca: ownCa.certificate, servername: "virt-api.kubevirt.svc" };
  const asProxy = { ...tls, cert: proxyCertificate.certificate, key: proxyCertificate.key };
  const group = "/apis/subresources.kubevirt.io/v1";

  interface CallOptions {
    readonly method?: string;
    readonly body?: unknown;
    readonly user?: string;
    readonly tls?: object;
  }

  function call(
    path: string,
    options: CallOptions = {},
  ): Promise<{ code: number; body: Status & Record<string, unknown> }> {
    const headers = options.user === undefined ? {} : { "x-remote-user": options.user };
    return new Promise((resolve, reject) => {
      const request = httpsRequest({
        host: "127.0.0.1",
        port,
        path,
        method: options.method ?? "GET",
        headers,
        ...tls,
        ...options.tls,
      });
      request.on("error", reject);
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ code: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString() || "{}") }),
        );
      });
      request.end(options.body === undefined ? undefined : JSON.stringify(options.body));
    });
  }

  function connect(name: string, user = "ann", stream = "console"): WebSocket {
    return new WebSocket(
      `wss://127.0.0.1:${port}${group}/namespaces/default/virtualmachineinstances/${name}/${stream}`,
      [streamSubprotocol],
      {
        ...asProxy,
        headers: { "x-remote-user": user },
      },
    );
  }

  function refusal(socket: WebSocket): Promise<{ code: number; message: string | undefined }> {
    return new Promise((resolve, reject) => {
      socket.on("open", () => reject(new Error("the connection was accepted")));
      socket.on("error", () => {});
      socket.on("unexpected-response", (_request, response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const status: Status = JSON.parse(Buffer.concat(chunks).toString());
          resolve({ code: response.statusCode ?? 0, message: status.message });
        });
      });
    });
  }

  it("answers the API server's admission reviews", async () => {
    const request = {
      uid: "r1",
      kind: { group: "kubevirt.io", version: "v1", kind: "VirtualMachine" },
      operation: "CREATE",
      userInfo: {},
      object: { metadata: { name: "vm" }, spec: {} },
    };
    const body = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
    const answer = await call("/virtualmachines-validate", { method: "POST", body });
    expect(answer.body).toMatchObject({
      kind: "AdmissionReview",
      response: {
        uid: "r1",
        allowed: false,
        status: {
          code: 422,
          message: expect.stringContaining("VirtualMachine (kubevirt.io/v1) is not served by this version") as string,
        },
      },
    });
  });

  it("refuses what is not a review", async () => {
    expect(await call("/virtualmachines-validate", { method: "POST", body: {} })).toMatchObject({
      code: 400,
      body: { kind: "Status", reason: "BadRequest" },
    });
    expect((await call("/virtualmachines-validate")).code).toBe(405);
    expect((await call("/nothing")).code).toBe(404);
  });

  it("serves subresources only through the API server", async () => {
    expect((await call(`${group}/version`, { user: "ann" })).code).toBe(401);
    const strangerCa = createCertificateAuthority("stranger");
    const stranger = issueCertificate(strangerCa, { commonName: "front-proxy-client", usage: "client", days: 1 });
    const asStranger = { cert: stranger.certificate, key: stranger.key };
    expect((await call(`${group}/version`, { user: "ann", tls: asStranger })).code).toBe(401);
    expect(await call(`${group}/version`, { user: "ann", tls: asProxy })).toMatchObject({
      code: 200,
      body: { gitVersion: "v0.1.0", platform: "linux/amd64" },
    });
    expect((await call(group, { user: "bob", tls: asProxy })).body).toMatchObject({ kind: "APIResourceList" });
  });

  it("asks for the user's permission, and says what is not served", async () => {
    const path = `${group}/namespaces/default/virtualmachineinstances/hello/backup`;
    expect(await call(path, { method: "PUT", user: "bob", tls: asProxy })).toMatchObject({ code: 403 });
    expect(reviews.at(-1)?.spec).toMatchObject({
      user: "bob",
      resourceAttributes: {
        group: "subresources.kubevirt.io",
        resource: "virtualmachineinstances",
        subresource: "backup",
        namespace: "default",
        name: "hello",
        verb: "update",
      },
    });
    expect(await call(path, { method: "PUT", user: "ann", tls: asProxy })).toMatchObject({
      code: 501,
      body: { message: expect.stringContaining("virtualmachineinstances/backup is not served by this version:") },
    });
    const measurement = path.replace("backup", "sev/querylaunchmeasurement");
    expect(await call(measurement, { user: "ann", tls: asProxy })).toMatchObject({
      code: 501,
      body: { message: expect.stringContaining("AMD SEV") },
    });
  });

  it("passes commands on to virt-handler, and its refusals back", async () => {
    const path = (command: string) => `${group}/namespaces/default/virtualmachineinstances/hello/${command}`;
    const options = { method: "PUT", user: "ann", tls: asProxy };
    expect(await call(path("pause"), options)).toMatchObject({ code: 200 });
    expect(handler.commands).toEqual(["PUT /v1/namespaces/default/virtualmachineinstances/hello/pause"]);
    expect(await call(path("pause"), { ...options, body: { dryRun: ["All"] } })).toMatchObject({ code: 200 });
    expect(handler.commands).toHaveLength(1);
    expect(await call(path("unpause"), options)).toMatchObject({ code: 409, body: { message: "VMI is not paused" } });
    expect(await call(path("reset"), options)).toMatchObject({ code: 409, body: { message: "the handler says no" } });
  });

  it("asks virt-handler about a guest", async () => {
    const path = (question: string) => `${group}/namespaces/default/virtualmachineinstances/hello/${question}`;
    const options = { user: "ann", tls: asProxy };
    expect(await call(path("userlist"), options)).toMatchObject({ code: 200, body: { kind: "UserList" } });
    expect(await call(path("vnc/screenshot?moveCursor=true&x=1"), options)).toMatchObject({ code: 200 });
    expect(handler.commands.slice(-2)).toEqual([
      "GET /v1/namespaces/default/virtualmachineinstances/hello/userlist",
      "GET /v1/namespaces/default/virtualmachineinstances/hello/vnc/screenshot?moveCursor=true",
    ]);
    expect(await call(path("userlist"), { user: "bob", tls: asProxy })).toMatchObject({ code: 403 });
    const stoppedList = path("userlist").replace("hello", "stopped");
    expect(await call(stoppedList, options)).toMatchObject({ code: 409, body: { message: "VMI is not running" } });
    expect(await call(path("filesystemlist"), options)).toMatchObject({ code: 500 });
  });

  it("joins the user's stream with a UDP port of the guest, message by message", async () => {
    const guest = createSocket("udp4");
    const heard: string[] = [];
    guest.on("message", (data, { port: from }) => {
      heard.push(data.toString());
      guest.send(`guest heard ${data.toString()}`, from, "127.0.0.1");
    });
    await new Promise<void>((resolve) => guest.bind(0, "127.0.0.1", resolve));
    const socket = connect("hello", "ann", `portforward/${guest.address().port}/udp`);
    const answers: string[] = [];
    const both = new Promise<void>((resolve) =>
      socket.on("message", (data: Buffer) => {
        answers.push(data.toString());
        if (answers.length === 2) resolve();
      }),
    );
    socket.once("open", () => {
      // Too large for a datagram: lost, and no harm done.
      socket.send(Buffer.alloc(70_000));
      socket.send(Buffer.from("one"));
      socket.send(Buffer.from("two"));
    });
    await both;
    expect(heard).toEqual(["one", "two"]);
    expect(answers).toEqual(["guest heard one", "guest heard two"]);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.close();
    await closed;
    await new Promise<void>((resolve) => guest.close(resolve));
  });

  it("joins the user's console with virt-handler's", async () => {
    const socket = connect("hello");
    const answer = new Promise<Buffer>((resolve) => socket.once("message", resolve));
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    expect(socket.protocol).toBe(streamSubprotocol);
    socket.send(Buffer.from("hello"));
    expect((await answer).toString()).toBe("echo hello");
    expect(handler.seen.at(-1)).toEqual({
      path: "/v1/namespaces/default/virtualmachineinstances/hello/console",
      client: handlerClientName,
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.close();
    await closed;
  });

  it("joins the user's stream with a port of the guest", async () => {
    const guest = createServer((socket) =>
      socket.once("data", (data: Buffer) => socket.end(`guest heard ${data.toString()}`)),
    );
    await new Promise<void>((resolve) => guest.listen(0, "127.0.0.1", resolve));
    const { port: guestPort } = guest.address() as AddressInfo;
    const socket = connect("hello", "ann", `portforward/${guestPort}`);
    const answer = new Promise<Buffer>((resolve) => socket.once("message", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.once("open", () => socket.send(Buffer.from("me")));
    expect((await answer).toString()).toBe("guest heard me");
    expect(socket.protocol).toBe(streamSubprotocol);
    await closed;
    await new Promise((resolve) => guest.close(resolve));
    expect(await refusal(connect("hello", "ann", `portforward/${guestPort}/tcp`))).toMatchObject({ code: 503 });
    expect(await refusal(connect("hello", "bob", `portforward/${guestPort}`))).toMatchObject({ code: 403 });
    expect(await refusal(connect("stopped", "ann", "portforward/80"))).toMatchObject({ code: 409 });
  });

  it("refuses consoles that cannot be opened, with the reason", async () => {
    expect(await refusal(connect("stopped"))).toEqual({ code: 409, message: "VMI is not running" });
    expect(await refusal(connect("silent"))).toEqual({ code: 400, message: "No serial consoles are present." });
    expect(await refusal(connect("nobody"))).toMatchObject({ code: 404 });
    expect(await refusal(connect("hello", "bob"))).toMatchObject({ code: 403 });
  });
});
