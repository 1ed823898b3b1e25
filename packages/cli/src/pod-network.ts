import { readFile } from "node:fs/promises";

/**
 * Picks a /16 of loopback addresses for a new cluster's pods (127.64 … 127.127), so that several clusters on one machine
 * do not meet on the same addresses: one on which nothing listens now, chosen at random.
 */
export async function choosePodNetwork(random: () => number = Math.random): Promise<string> {
  const table = await readFile("/proc/net/tcp", "utf8").catch(() => "");
  const taken = new Set(listeningSecondOctets(table));
  const free = Array.from({ length: 64 }, (_, index) => 64 + index).filter((octet) => !taken.has(octet));
  const chosen = free[Math.floor(random() * free.length)] ?? 64;
  return `127.${chosen}`;
}

/** Second octets of the 127.x.y.z addresses in use. /proc/net/tcp prints addresses as little-endian hexadecimal. */
export function listeningSecondOctets(table: string): number[] {
  return [...table.matchAll(/^\s*\d+: [0-9A-F]{4}([0-9A-F]{2})7F:/gm)].map((match) => parseInt(match[1] ?? "0", 16));
}
