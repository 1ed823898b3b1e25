import type { Interface } from "@polyvirt/api";
import { errors } from "../errors.ts";
import type { GuestRange } from "./guest-range.ts";

/** From here on the launcher itself may listen on the pod's loopback, so these ports are not the guest's there. */
const firstOwnLoopbackPort = 49_152;

interface MasqueradeNames {
  /** Of the pod. */
  readonly uplink: string;
  /** Between pod and guest. */
  readonly bridge: string;
}

/**
 * The pod's rules for one guest behind it:
 * - what comes to the pod goes to the guest: everything, or only the ports that the interface lists;
 * - what a program in the pod (such as the kubelet's port forwarding) sends to the loopback goes there as well;
 * - what the guest sends leaves under the pod's address;
 * - the guest itself cannot send to the pod's loopback, although the bridge carries the answers to it.
 */
export function masqueradeRules(range: GuestRange, iface: Interface, { uplink, bridge }: MasqueradeNames): string {
  const matches = portMatches(iface);
  const to = `dnat to ${range.guest}`;
  const fromOutside = matches.length === 0 ? [to] : matches.map((match) => `${match} ${to}`);
  const fromInside =
    matches.length === 0 ? [`tcp dport < ${firstOwnLoopbackPort} ${to}`] : matches.map((match) => `${match} ${to}`);
  return [
    "table ip kubevirt",
    "delete table ip kubevirt",
    "table ip kubevirt {",
    " chain guard {",
    "  type filter hook prerouting priority -300; policy accept;",
    `  iifname "${bridge}" ip daddr 127.0.0.0/8 drop`,
    " }",
    " chain inbound {",
    "  type nat hook prerouting priority -100; policy accept;",
    ...fromOutside.map((rule) => `  iifname "${uplink}" ${rule}`),
    " }",
    " chain local {",
    "  type nat hook output priority -100; policy accept;",
    ...fromInside.map((rule) => `  ip daddr 127.0.0.1 ${rule}`),
    " }",
    " chain outbound {",
    "  type nat hook postrouting priority 100; policy accept;",
    `  oifname "${bridge}" ip saddr 127.0.0.1 snat to ${range.gateway}`,
    `  oifname "${uplink}" ip saddr ${range.guest} masquerade`,
    " }",
    "}",
    "",
  ].join("\n");
}

function portMatches({ name, ports = [], portRanges = [] }: Interface): string[] {
  return [
    ...ports.map(({ port, protocol }) => `${protocolOf(name, protocol)} dport ${portOf(name, port)}`),
    ...portRanges.map(
      ({ start, end, protocol }) =>
        `${protocolOf(name, protocol)} dport ${portOf(name, start)}-${portOf(name, Math.max(start, end))}`,
    ),
  ];
}

/** SAFETY: these texts become part of rules, so they are one of three words, or numbers. */
function protocolOf(name: string, protocol = "TCP"): string {
  const lower = protocol.toLowerCase();
  if (lower === "tcp" || lower === "udp" || lower === "sctp") return lower;
  throw errors.HandlerNetworkRefused(`forward ports of interface ${name}: the protocol ${protocol} is not known`);
}

function portOf(name: string, port: number): number {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw errors.HandlerNetworkRefused(`forward ports of interface ${name}: ${port} is no port`);
}
