import { describeError, type Logger } from "@polyvirt/core";
import { createBridgedNetwork, defaultLinks, removeBridgedNetwork, usedNetworks } from "@polyvirt/host";
import { nodeAddress } from "../pod-addresses.ts";
import { isNetworkFree } from "./free-network.ts";

/** How the pods of all nodes of this machine are connected. */
export interface PodNetwork {
  /** First two octets of every node's and pod's address. */
  readonly prefix: string;
  /** Where a pod finds the API server. */
  readonly apiServerHost: string;
  /** Why pods have no network of their own; undefined when they have. */
  readonly sharedBecause: string | undefined;
  /** The pod's network namespace, made if it is missing; undefined when it shares the machine's. */
  attach(podUid: string, address: string): Promise<string | undefined>;
  detach(address: string): Promise<void>;
  /** Removes everything; only when no pod runs any more. */
  remove(): Promise<void>;
}

interface PodNetworkOptions {
  /** Second octet of all addresses; each cluster of the machine has another one. */
  readonly octet: number;
  readonly nodes: number;
  readonly apiServerPort: number;
  readonly logger: Logger;
}

/** Own octets, far from those of nodes and pods: a namespace that only shows whether namespaces can be made. */
const probeHost = "255.254";

/**
 * A network of their own for the pods, where this program may make one: network namespaces on a bridge, `10.OCTET.0.0/16`.
 * Otherwise they share the machine's network and each has a loopback address, `127.OCTET.0.0/16`.
 */
export async function openPodNetwork(options: PodNetworkOptions): Promise<PodNetwork> {
  const prefix = privatePrefix(options.octet);
  try {
    const hostAddresses = Array.from({ length: options.nodes }, (_, index) => nodeAddress(prefix, index + 1));
    const uplinks = await defaultLinks();
    const network = createBridgedNetwork({ prefix, hostAddresses, loopbackPort: options.apiServerPort, uplinks });
    await network.open();
    await network.attach(`${prefix}.${probeHost}`, "probe");
    await network.detach(`${prefix}.${probeHost}`);
    return {
      prefix,
      apiServerHost: podGateway(options.octet),
      sharedBecause: undefined,
      attach: (podUid, address) => network.attach(address, podUid),
      detach: (address) => network.detach(address),
      remove: async () => void (await removeBridgedNetwork(prefix)),
    };
  } catch (error) {
    const reason = describeError(error);
    options.logger.warn("pods share the machine's network", { reason });
    return sharedNetwork(`127.${options.octet}`, reason);
  }
}

/** Every pod in the machine's own network, told apart by loopback addresses. */
export function sharedNetwork(prefix: string, reason: string): PodNetwork {
  return {
    prefix,
    apiServerHost: "127.0.0.1",
    sharedBecause: reason,
    attach: () => Promise.resolve(undefined),
    detach: () => Promise.resolve(),
    remove: () => Promise.resolve(),
  };
}

/** By which pods with a network of their own reach the machine. */
export function podGateway(octet: number): string {
  return nodeAddress(privatePrefix(octet), 1);
}

/** Removes what an earlier cluster process with this octet may have left. */
export async function removePodNetwork(octet: number): Promise<void> {
  await removeBridgedNetwork(privatePrefix(octet));
}

/** Which octets nothing else on this machine uses. */
export async function freeOctets(candidates: readonly number[]): Promise<number[]> {
  const used = await usedNetworks().catch(() => []);
  return candidates.filter((octet) => isNetworkFree(privatePrefix(octet), used));
}

function privatePrefix(octet: number): string {
  return `10.${octet}`;
}
