import { isIP, isIPv4 } from "node:net";
import { errors } from "../errors.ts";

/** The interface by which a pod is connected, as the node agent found it before it changed anything. */
export interface PodInterface {
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  /** Global addresses with the length of their network, such as `10.244.1.5/16`. */
  readonly addresses: readonly string[];
  /** Of the IPv4 default route. */
  readonly gateway?: string;
  /** Other IPv4 routes through this interface that lead to a gateway. */
  readonly routes: readonly { readonly destination: string; readonly gateway: string }[];
}

/** What every network plug-in of Kubernetes calls a pod's own interface. */
const podInterfaceName = "eth0";

/** Reads what `ip -json addr show` and `ip -json -4 route show` print for the pod's interface. */
export function readPodInterface(links: unknown, routes: unknown): PodInterface {
  const link = objects(links).find((candidate) => candidate["ifname"] === podInterfaceName);
  const mac = link?.["address"];
  if (link === undefined || typeof mac !== "string")
    throw errors.HandlerNetworkFailed(`read the pod's network: it has no interface ${podInterfaceName}`);
  const own = objects(routes).filter(({ dev }) => dev === podInterfaceName);
  const viaGateway = own.flatMap(({ dst, gateway }) =>
    typeof dst === "string" && typeof gateway === "string" && isIPv4(gateway) ? [{ destination: dst, gateway }] : [],
  );
  const fallback = viaGateway.find(({ destination }) => destination === "default");
  return {
    name: podInterfaceName,
    mac,
    mtu: typeof link["mtu"] === "number" ? link["mtu"] : 1500,
    addresses: objects(link["addr_info"]).flatMap(({ local, prefixlen, scope }) =>
      typeof local === "string" && isIP(local) !== 0 && typeof prefixlen === "number" && scope === "global"
        ? [`${local}/${prefixlen}`]
        : [],
    ),
    ...(fallback === undefined ? {} : { gateway: fallback.gateway }),
    routes: viaGateway.filter(({ destination }) => /^[\d.]+\/\d+$/.test(destination)),
  };
}

/** Of `ip -json link show`. */
export function linkNames(links: unknown): string[] {
  return objects(links).flatMap(({ ifname }) => (typeof ifname === "string" ? [ifname] : []));
}

function objects(value: unknown): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  // Plain objects of JSON have texts as keys.
  return value.filter((item): item is Record<string, unknown> => typeof item === "object" && item !== null);
}
