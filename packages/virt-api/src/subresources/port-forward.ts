import type { IncomingMessage } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { pipeline, type Duplex } from "node:stream";
import { streamSubprotocol, type VirtualMachineInstance } from "@polyvirt/api";
import { createWebSocketStream, WebSocketServer } from "ws";
import { Refusal } from "../server/status.ts";

const dialTimeoutMs = 10_000;

const webSockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  handleProtocols: (offered) => (offered.has(streamSubprotocol) ? streamSubprotocol : false),
});

/** Where a port of a running guest is reached. */
interface GuestPort {
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
  if (protocol !== "tcp")
    throw new Refusal(400, `ports of protocol ${protocol} cannot be forwarded, only those of tcp`);
  if (vmi.status?.phase !== "Running") throw new Refusal(409, "VMI is not running");
  const pods = new Set((vmi.spec.networks ?? []).filter(({ pod }) => pod !== undefined).map(({ name }) => name));
  const host = vmi.status.interfaces?.find(({ name }) => name !== undefined && pods.has(name))?.ipAddress ?? "";
  if (isIP(host) === 0) throw new Refusal(409, "the VMI has no address in the pod network");
  return { host, port };
}

/** Joins a client's WebSocket with a connection to the guest. The guest is dialled first, so that a refusal is one. */
export async function forwardPort(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  target: GuestPort,
): Promise<void> {
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
