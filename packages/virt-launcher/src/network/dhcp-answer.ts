import {
  addressBytes,
  formatDhcpMessage,
  messageTypes,
  optionCode,
  parseDhcpMessage,
  type DhcpMessage,
} from "./dhcp-message.ts";
import type { Lease } from "./lease.ts";

export interface DhcpAnswer {
  readonly data: Uint8Array;
  /** The whole link, for a client that has no address yet. */
  readonly to: string;
}

const nobody = "0.0.0.0";
const everybody = "255.255.255.255";

/** The answer to one packet; undefined for what deserves none: other clients, other servers' business, nonsense. */
export function answerDhcp(packet: Uint8Array, lease: Lease): DhcpAnswer | undefined {
  const request = parseDhcpMessage(packet);
  if (request?.operation !== "request" || request.hardwareAddress !== lease.hardwareAddress) return undefined;
  // We serve one link; whatever came through a relay is not from it.
  if (request.relayAddress !== nobody) return undefined;
  const type = request.options.get(optionCode.messageType)?.[0];
  switch (type) {
    case messageTypes.discover:
      return reply(request, lease, messageTypes.offer);
    case messageTypes.request:
      return answerRequest(request, lease);
    case messageTypes.inform:
      return reply(request, lease, messageTypes.acknowledge, { withAddress: false });
    case undefined:
    default:
      return undefined;
  }
}

/** A client asks for what we offered, for what it had before a restart, or to keep what it has. */
function answerRequest(request: DhcpMessage, lease: Lease): DhcpAnswer | undefined {
  const chosen = request.options.get(optionCode.serverIdentifier);
  if (chosen !== undefined && !same(chosen, addressBytes(lease.serverAddress))) return undefined;
  const wanted = request.options.get(optionCode.requestedAddress) ?? addressBytes(request.clientAddress);
  return same(wanted, addressBytes(lease.address))
    ? reply(request, lease, messageTypes.acknowledge)
    : reply(request, lease, messageTypes.refuse);
}

function reply(request: DhcpMessage, lease: Lease, type: number, { withAddress = true } = {}): DhcpAnswer {
  const refused = type === messageTypes.refuse;
  const told = [...lease.options].filter(([code]) =>
    refused ? code === optionCode.serverIdentifier : withAddress || code !== optionCode.leaseSeconds,
  );
  const data = formatDhcpMessage({
    ...request,
    operation: "reply",
    seconds: 0,
    clientAddress: refused ? nobody : request.clientAddress,
    yourAddress: withAddress && !refused ? lease.address : nobody,
    serverAddress: lease.serverAddress,
    options: new Map([[optionCode.messageType, Uint8Array.of(type)], ...told]),
  });
  // An address that the client claims is only trusted as a destination when it is the one we gave it.
  const known = request.clientAddress === lease.address && !refused;
  return { data, to: known ? lease.address : everybody };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
