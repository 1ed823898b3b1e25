/** IP addresses and networks as bytes. No zones; IPv4 in IPv6 is told apart by the callers. */

export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

export interface Network {
  readonly address: Address;
  readonly prefixLength: number;
}

export const widthOf = ({ family }: Pick<Address, "family">): number => (family === 4 ? 32 : 128);

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    // Leading zeros are refused: some read them as octal.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = bits * 256n + BigInt(part);
  }
  return bits;
}

function parseIpv6(text: string): bigint | undefined {
  const ending = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const embedded = ending === null ? undefined : parseIpv4(ending[2] ?? "");
  if (ending !== null && embedded === undefined) return undefined;
  const hex =
    embedded === undefined
      ? text
      : `${ending?.[1] ?? ""}${(embedded >> 16n).toString(16)}:${(embedded & 0xffffn).toString(16)}`;
  const halves = hex.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.reduce((bits, group) => bits * 65536n + BigInt(`0x${group}`), 0n);
}

export function parseAddress(text: string): Address | undefined {
  if (text.length > 64) return undefined;
  const family = text.includes(":") ? 6 : 4;
  const bits = family === 4 ? parseIpv4(text) : parseIpv6(text);
  return bits === undefined ? undefined : { family, bits };
}

/** `::ffff:1.2.3.4` */
export function isIpv4Mapped({ family, bits }: Address): boolean {
  return family === 6 && bits >> 32n === 0xffffn;
}

export function formatAddress(address: Address): string {
  const { family, bits } = address;
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 255n)).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - index * 16)) & 0xffffn).toString(16));
  const run = longestZeroRun(groups);
  if (run.length < 2) return groups.join(":");
  return `${groups.slice(0, run.start).join(":")}::${groups.slice(run.start + run.length).join(":")}`;
}

function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start += 1) {
    let length = 0;
    while (groups[start + length] === "0") length += 1;
    if (length > best.length) best = { start, length };
  }
  return best;
}

export function parseNetwork(text: string): Network | undefined {
  const slash = text.lastIndexOf("/");
  const address = slash === -1 ? undefined : parseAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined;
  return Number(length) > widthOf(address) ? undefined : { address, prefixLength: Number(length) };
}

/** The network with all bits after its prefix cleared. */
export function maskNetwork({ address, prefixLength }: Network): Network {
  const shift = BigInt(widthOf(address) - prefixLength);
  return { address: { family: address.family, bits: (address.bits >> shift) << shift }, prefixLength };
}

export function containsAddress({ address, prefixLength }: Network, other: Address): boolean {
  const shift = BigInt(widthOf(address) - prefixLength);
  return address.family === other.family && address.bits >> shift === other.bits >> shift;
}

export function containsNetwork(outer: Network, inner: Network): boolean {
  return outer.prefixLength <= inner.prefixLength && containsAddress(outer, inner.address);
}

const inRange = ({ family, bits }: Address, ranges: { readonly 4: string; readonly 6: string }): boolean => {
  const network = parseNetwork(ranges[family]);
  return network !== undefined && containsAddress(network, { family, bits });
};

const isIn =
  (ranges: { readonly 4: string; readonly 6: string }) =>
  (address: Address): boolean =>
    inRange(address, ranges);

export const isUnspecified = isIn({ 4: "0.0.0.0/32", 6: "::/128" });
export const isLoopback = isIn({ 4: "127.0.0.0/8", 6: "::1/128" });
export const isLinkLocalUnicast = isIn({ 4: "169.254.0.0/16", 6: "fe80::/10" });
const isMulticast = isIn({ 4: "224.0.0.0/4", 6: "ff00::/8" });
const isIpv4LinkLocalMulticast = isIn({ 4: "224.0.0.0/24", 6: "ff02::/16" });

/** IPv6 scopes are in the low half of the second byte, whatever the flags above it say. */
export function isLinkLocalMulticast(address: Address): boolean {
  if (address.family === 4) return isIpv4LinkLocalMulticast(address);
  return isMulticast(address) && ((address.bits >> 112n) & 0xfn) === 2n;
}

export function isGlobalUnicast(address: Address): boolean {
  if (address.family === 4 && address.bits === 0xffff_ffffn) return false;
  return ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast].some((test) => test(address));
}
