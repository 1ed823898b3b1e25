import { isIPv4 } from "node:net";

/** A DHCP message (RFC 2131), as far as a server for one client needs it. */
export interface DhcpMessage {
  readonly operation: "request" | "reply";
  readonly transactionId: number;
  readonly seconds: number;
  readonly flags: number;
  /** Address that the client has already. */
  readonly clientAddress: string;
  /** Address that the client gets. */
  readonly yourAddress: string;
  readonly serverAddress: string;
  readonly relayAddress: string;
  /** Lower case, separated by colons. */
  readonly hardwareAddress: string;
  readonly options: ReadonlyMap<number, Uint8Array>;
}

/** Names for the numbers of options (RFC 2132, 3397, 3442). */
export const optionCode = {
  subnetMask: 1,
  router: 3,
  domainNameServers: 6,
  hostName: 12,
  domainName: 15,
  interfaceMtu: 26,
  ntpServers: 42,
  requestedAddress: 50,
  leaseSeconds: 51,
  messageType: 53,
  serverIdentifier: 54,
  tftpServerName: 66,
  bootFileName: 67,
  domainSearch: 119,
  classlessRoutes: 121,
} as const;

export const messageTypes = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  acknowledge: 5,
  refuse: 6,
  release: 7,
  inform: 8,
} as const;

const fixedBytes = 236;
const cookie = 0x63_82_53_63;
const padOption = 0;
const endOption = 255;
const ethernet = 1;
const macBytes = 6;
/** Clients may count on this much, whatever they say (RFC 1542). */
const shortestMessage = 300;
const longestOption = 255;

/** Undefined for anything that is not a well-formed message of an Ethernet client. */
export function parseDhcpMessage(data: Uint8Array): DhcpMessage | undefined {
  if (data.length < fixedBytes + 4 || data.length > 1500) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const operation = ([undefined, "request", "reply"] as const)[view.getUint8(0)];
  if (operation === undefined || view.getUint8(1) !== ethernet || view.getUint8(2) !== macBytes) return undefined;
  if (view.getUint32(fixedBytes) !== cookie) return undefined;
  const options = parseOptions(data.subarray(fixedBytes + 4));
  if (options === undefined) return undefined;
  return {
    operation,
    transactionId: view.getUint32(4),
    seconds: view.getUint16(8),
    flags: view.getUint16(10),
    clientAddress: addressAt(data, 12),
    yourAddress: addressAt(data, 16),
    serverAddress: addressAt(data, 20),
    relayAddress: addressAt(data, 24),
    hardwareAddress: [...data.subarray(28, 28 + macBytes)].map((byte) => byte.toString(16).padStart(2, "0")).join(":"),
    options,
  };
}

/** An option that comes in several parts is their concatenation (RFC 3396); a length beyond the end is refused. */
function parseOptions(data: Uint8Array): Map<number, Uint8Array> | undefined {
  const options = new Map<number, Uint8Array>();
  let at = 0;
  while (at < data.length) {
    const code = data[at++] ?? endOption;
    if (code === endOption) return options;
    if (code === padOption) continue;
    const length = data[at++];
    if (length === undefined || at + length > data.length) return undefined;
    const part = data.subarray(at, at + length);
    const before = options.get(code);
    options.set(code, before === undefined ? Uint8Array.from(part) : Uint8Array.from([...before, ...part]));
    at += length;
  }
  // Some clients leave the end mark out.
  return options;
}

export function formatDhcpMessage(message: DhcpMessage): Uint8Array {
  const fixed = new Uint8Array(fixedBytes + 4);
  const view = new DataView(fixed.buffer);
  view.setUint8(0, message.operation === "request" ? 1 : 2);
  view.setUint8(1, ethernet);
  view.setUint8(2, macBytes);
  view.setUint32(4, message.transactionId);
  view.setUint16(8, message.seconds);
  view.setUint16(10, message.flags);
  fixed.set(addressBytes(message.clientAddress), 12);
  fixed.set(addressBytes(message.yourAddress), 16);
  fixed.set(addressBytes(message.serverAddress), 20);
  fixed.set(addressBytes(message.relayAddress), 24);
  fixed.set(
    message.hardwareAddress.split(":").map((byte) => Number.parseInt(byte, 16)),
    28,
  );
  view.setUint32(fixedBytes, cookie);
  const options = [...message.options].flatMap(([code, value]) => formatOption(code, value));
  const body = [...fixed, ...options, endOption];
  return Uint8Array.from([...body, ...Array<number>(Math.max(0, shortestMessage - body.length)).fill(padOption)]);
}

function formatOption(code: number, value: Uint8Array): number[] {
  if (value.length <= longestOption) return [code, value.length, ...value];
  return [
    ...formatOption(code, value.subarray(0, longestOption)),
    ...formatOption(code, value.subarray(longestOption)),
  ];
}

export function addressBytes(address: string): Uint8Array {
  return isIPv4(address) ? Uint8Array.from(address.split(".").map(Number)) : new Uint8Array(4);
}

function addressAt(data: Uint8Array, offset: number): string {
  return [...data.subarray(offset, offset + 4)].join(".");
}
