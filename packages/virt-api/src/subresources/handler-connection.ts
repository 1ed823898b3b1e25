import { request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { handlerServerName, ports, type VirtualMachineInstance } from "@polyvirt/api";
import type { Pod } from "@polyvirt/api/k8s";
import type { Informer } from "@polyvirt/kube";
import type { CertificateFiles } from "../server/certificates.ts";
import { errors } from "../errors.ts";
import { Refusal } from "../server/status.ts";

/** Longer than virt-handler waits for a guest. */
const answerTimeoutMs = 20_000;
/** A picture of a large screen, and more than any document has. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** Index of the pod informer by which handlers are found. */
export const byNode = "node";

/** The address of the virt-handler that looks after this VMI. */
export function handlerAddress(vmi: VirtualMachineInstance, handlers: Pick<Informer<Pod>, "byIndex">): string {
  const node = vmi.status?.nodeName;
  if (node === undefined || node === "") throw new Refusal(409, "VMI is not running");
  const pod = handlers
    .byIndex(byNode, node)
    .find(({ status }) => status?.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True"));
  const address = pod?.status?.podIP;
  if (address === undefined) {
    throw new Refusal(503, `virt-handler of node ${node} is not ready, so the guest cannot be reached`);
  }
  return address;
}

/** One thing to ask of the virt-handler at an address. */
export interface HandlerTarget {
  readonly address: string;
  readonly port?: number;
  readonly path: string;
  readonly certificates: CertificateFiles;
  /** For what takes longer than usual. */
  readonly limitMs?: number;
}

/** Where virt-handler serves a stream or command of a VMI. */
export function handlerPath(namespace: string, name: string, action: string): string {
  return `/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${action}`;
}

function connectionOptions({ address, port, path, certificates, limitMs }: HandlerTarget): RequestOptions {
  return {
    host: address,
    port: port ?? ports.virtHandlerConsole,
    path,
    cert: certificates.certificate,
    key: certificates.key,
    ca: certificates.authorities,
    servername: handlerServerName,
    timeout: limitMs ?? answerTimeoutMs,
  };
}

export interface HandlerAnswer {
  readonly type: string;
  readonly body: Buffer;
}

/** Passes a command on; throws what virt-handler refused with. */
export async function sendCommand(target: HandlerTarget, body: string): Promise<void> {
  await ask(target, "PUT", body);
}

/** Asks for something about the guest; throws what virt-handler refused with. */
export function askHandler(target: HandlerTarget): Promise<HandlerAnswer> {
  return ask(target, "GET", "");
}

function ask(target: HandlerTarget, method: "GET" | "PUT", body: string): Promise<HandlerAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const options = connectionOptions(target);
    const outgoing = httpsRequest({ ...options, method, headers });
    const giveUp = unreachable(target, reject);
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${options.timeout} ms`)));
    outgoing.once("error", giveUp);
    outgoing.once("response", (response) => {
      if ((response.statusCode ?? 0) >= 300) return void relayRefusal(response).then(reject, giveUp);
      const type = response.headers["content-type"] ?? "application/json";
      readAnswer(response).then((answer) => resolve({ type, body: answer }), giveUp);
    });
    outgoing.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new Error(`its answer is larger than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unreachable({ address }: HandlerTarget, reject: (error: Error) => void): (cause: unknown) => void {
  return (cause) =>
    reject(errors.VirtApiHandlerUnreachable(`connect to virt-handler at ${address}`, { cause, fields: { address } }));
}

/**
 * Passes a client's WebSocket on to virt-handler byte by byte: both ends speak the same protocol, so nothing in between
 * has to understand the frames.
 */
export function spliceUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  target: HandlerTarget,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({ ...connectionOptions(target), method: "GET", headers: upgradeHeaders(request) });
    const giveUp = unreachable(target, reject);
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${answerTimeoutMs} ms`)));
    outgoing.once("error", giveUp);
    outgoing.once("response", (response) => {
      relayRefusal(response).then(reject, giveUp);
    });
    outgoing.once("upgrade", (response, handlerSocket, handlerHead) => {
      outgoing.setTimeout(0);
      socket.write(switchingProtocols(response));
      if (handlerHead.length > 0) socket.write(handlerHead);
      if (head.length > 0) handlerSocket.write(head);
      join(socket, handlerSocket);
      resolve();
    });
    socket.once("close", () => outgoing.destroy());
    outgoing.end();
  });
}

const forwardedHeaders = [
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-protocol",
  "sec-websocket-extensions",
];

function upgradeHeaders({ headers }: IncomingMessage): Record<string, string> {
  const forwarded: Record<string, string> = { connection: "Upgrade", upgrade: "websocket" };
  for (const name of forwardedHeaders) {
    const value = headers[name];
    if (typeof value === "string") forwarded[name] = value;
  }
  return forwarded;
}

function switchingProtocols({ headers }: IncomingMessage): string {
  const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  for (const name of ["sec-websocket-accept", "sec-websocket-protocol", "sec-websocket-extensions"]) {
    const value = headers[name];
    if (typeof value === "string") lines.push(`${name}: ${value}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** What virt-handler said instead of upgrading, as our own refusal. */
async function relayRefusal(response: IncomingMessage): Promise<Refusal> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (chunks.length < 16) chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  let message = text;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "message" in body) message = String(body.message);
  } catch {
    // Not a Status: the text itself is all there is.
  }
  return new Refusal(response.statusCode ?? 502, message === "" ? "virt-handler refused the connection" : message);
}

function join(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  const end = (): void => {
    one.destroy();
    other.destroy();
  };
  for (const socket of [one, other]) {
    socket.once("close", end);
    socket.on("error", end);
  }
}
