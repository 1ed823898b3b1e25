import { errors } from "../errors.ts";

/**
 * Which address each pod of a node has. Out of the cluster's /16 (`10.70`) the addresses with third octet 0 are the
 * nodes', and node N has the third octets 4N … 4N+3 for its pods.
 */
export class PodAddresses {
  readonly #network: string;
  readonly #firstOctet: number;
  readonly #taken = new Set<string>();
  #next = 0;

  constructor(network: string, nodeIndex: number) {
    if (!/^\d+\.\d+$/.test(network) || nodeIndex < 1 || nodeIndex > 63) {
      throw errors.KubeletPodRefused(`give node ${nodeIndex} addresses in ${network}: it must be 1 … 63 in a /16`);
    }
    this.#network = network;
    this.#firstOctet = nodeIndex * 4;
  }

  /** Goes round, so that an address is not given to another pod right after its pod has ended. */
  allocate(): string {
    const size = 4 * 254;
    for (let tried = 0; tried < size; tried++) {
      const index = this.#next++ % size;
      const address = `${this.#network}.${this.#firstOctet + Math.floor(index / 254)}.${(index % 254) + 1}`;
      if (!this.#taken.has(address)) {
        this.#taken.add(address);
        return address;
      }
    }
    throw errors.KubeletPodRefused("give a pod an address: all addresses of this node are taken");
  }

  /** False for an address of another network, which the cluster had before. */
  reserve(address: string): boolean {
    if (!address.startsWith(`${this.#network}.`)) return false;
    this.#taken.add(address);
    return true;
  }

  release(address: string): void {
    this.#taken.delete(address);
  }
}

export function nodeAddress(network: string, nodeIndex: number): string {
  return `${network}.0.${nodeIndex}`;
}
