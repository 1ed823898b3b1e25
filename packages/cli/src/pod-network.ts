import { readFile } from "node:fs/promises";
import { freeOctets } from "@polyvirt/embedded";

/** Second octets that clusters choose from. */
const candidates = Array.from({ length: 64 }, (_, index) => 64 + index);

/**
 * Picks the second octet of a new cluster's addresses (64 … 127), so that several clusters on one machine do not meet: one
 * at random, to whose private network (`10.x`) no route leads, and on whose loopback addresses (`127.x`) nothing listens.
 */
export async function choosePodNetwork(random: () => number = Math.random): Promise<string> {
  const table = await readFile("/proc/net/tcp", "utf8").catch(() => "");
  const taken = new Set(listeningSecondOctets(table));
  const free = (await freeOctets(candidates)).filter((octet) => !taken.has(octet));
  const chosen = free[Math.floor(random() * free.length)] ?? 64;
  return `127.${chosen}`;
}

/** A cluster's file names its loopback network, from the time when there was no other. */
export function podNetworkOctet(podNetwork: string): number {
  return Number(podNetwork.split(".")[1]);
}

/** Second octets of the 127.x.y.z addresses in use. /proc/net/tcp prints addresses as little-endian hexadecimal. */
export function listeningSecondOctets(table: string): number[] {
  return [...table.matchAll(/^\s*\d+: [0-9A-F]{4}([0-9A-F]{2})7F:/gm)].map((match) => parseInt(match[1] ?? "0", 16));
}
