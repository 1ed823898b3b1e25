import { isIPv4 } from "node:net";
import { errors } from "../errors.ts";

/** The little network between a pod and its guest behind masquerade. */
export interface GuestRange {
  readonly gateway: string;
  readonly guest: string;
  readonly length: number;
}

/** Smaller ones have no room for network, gateway, guest and broadcast. */
const longestPrefix = 30;

/** The first address is the pod's, the second the guest's: 10.0.2.1 and 10.0.2.2 of 10.0.2.0/24. */
export function guestRange(cidr: string): GuestRange {
  const [address = "", text = ""] = cidr.split("/");
  const length = Number(text);
  if (!isIPv4(address) || !/^\d+$/.test(text) || length < 1 || length > longestPrefix) {
    throw errors.HandlerNetworkRefused(
      `use ${JSON.stringify(cidr)} between pod and guest: an IPv4 network with at most ${longestPrefix} bits is needed`,
    );
  }
  const size = 2 ** (32 - length);
  const network = Math.floor(numberOf(address) / size) * size;
  return { gateway: textOf(network + 1), guest: textOf(network + 2), length };
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
