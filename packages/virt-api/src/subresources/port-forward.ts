import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import type { IncomingMessage } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { pipeline, type Duplex } from "node:stream";
import { streamSubprotocol, type VirtualMachineInstance } from "@polyvirt/api";
import { createWebSocketStream, WebSocketServer, type RawData, type WebSocket } from "ws";
import { Refusal } from "../server/status.ts";

const dialTimeoutMs = 10_000;
/** The largest datagram that IPv4 can carry. */
const maxDatagramBytes = 65_507;
/** What a slow client has not taken beyond this much is lost, as datagrams are. */
const maxWaitingBytes = 1024 * 1024;
const goingAway = 1001;

const webSockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  handleProtocols: (offered) => (offered.has(streamSubprotocol) ? streamSubprotocol : false),
});

/** Where a port of a running guest is reached. */
interface GuestPort {
  readonly protocol: "tcp" | "udp";
  readonly host: string;
  readonly port: number;
}

/**
 * SAFETY: the address is the one of the guest's pod, which virt-controller has written from the pod's status; what a
 * guest's agent says about addresses never gets into that field.
 */
export function guestPort(vmi: VirtualMachineInstance, parameters: Readonly<Record<string, string>>): GuestPort {
  const port = Number(parameters["port"]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Refusal(400, `${parameters["port"] ?? ""} is not a port`);
  const protocol = parameters["protocol"] ?? "tcp";
  if (protocol !== "tcp" && protocol !== "udp")
    throw new Refusal(400, `ports of protocol ${protocol} cannot be forwarded, only those of tcp and udp`);
  if (vmi.status?.phase !== "Running") throw new Refusal(409, "VMI is not running");
  const pods = new Set((vmi.spec.networks ?? []).filter(({ pod }) => pod !== undefined).map(({ name }) => name));
  const host = vmi.status.interfaces?.find(({ name }) => name !== undefined && pods.has(name))?.ipAddress ?? "";
  if (isIP(host) === 0) throw new Refusal(409, "the VMI has no address in the pod network");
  return { protocol, host, port };
}

/** Joins a client's WebSocket with a connection to the guest. The guest is dialled first, so that a refusal is one. */
export async function forwardPort(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  target: GuestPort,
): Promise<void> {
  if (target.protocol === "udp") return forwardDatagrams(request, socket, head, await dialDatagrams(target));
  const guest = await dial(target);
  if (socket.destroyed) return void guest.destroy();
  webSockets.handleUpgrade(request, socket, head, (webSocket) => {
    const client = createWebSocketStream(webSocket);
    // Either side may end first; what went wrong with one is no concern of the other.
    pipeline(client, guest, client, () => {});
  });
}

function dial({ host, port }: GuestPort): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const guest = connect({ host, port });
    const fail = (error: Error): void => {
      guest.destroy();
      reject(new Refusal(503, `connect to port ${port} of the guest: ${error.message}`));
    };
    guest.setTimeout(dialTimeoutMs, () => fail(new Error(`no answer within ${dialTimeoutMs / 1000} s`)));
    guest.once("error", fail);
    guest.once("connect", () => {
      guest.setTimeout(0);
      guest.off("error", fail);
      resolve(guest);
    });
  });
}

/** One message of the client is one datagram for the guest, and the other way round. */
function forwardDatagrams(request: IncomingMessage, socket: Duplex, head: Buffer, guest: DatagramSocket): void {
  let open = true;
  const close = (): void => {
    if (open) guest.close();
    open = false;
  };
  if (socket.destroyed) return close();
  socket.once("close", close);
  webSockets.handleUpgrade(request, socket, head, (client: WebSocket) => {
    client.on("message", (data: RawData) => {
      const datagram = asBuffer(data);
      // A datagram that cannot be sent is lost, as datagrams are.
      if (open && datagram.length <= maxDatagramBytes) guest.send(datagram, () => {});
    });
    guest.on("message", (datagram) => {
      if (client.bufferedAmount <= maxWaitingBytes) client.send(datagram, { binary: true });
    });
    // The guest's network says that nobody listens there.
    guest.on("error", () => client.close(goingAway, "the port of the guest is closed"));
    client.on("error", () => client.terminate());
  });
}

function asBuffer(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}

function dialDatagrams({ host, port }: GuestPort): Promise<DatagramSocket> {
  return new Promise((resolve, reject) => {
    const guest = createSocket(isIP(host) === 6 ? "udp6" : "udp4");
    const fail = (error: Error): void => reject(new Refusal(503, `reach port ${port} of the guest: ${error.message}`));
    guest.once("error", fail);
    // SAFETY: a connected socket hears nobody but the guest.
    guest.connect(port, host, () => {
      guest.off("error", fail);
      resolve(guest);
    });
  });
}
