/** What a network of namespaces on a bridge is made of, as texts for `ip` and `nft`; nothing here touches the machine. */
export interface BridgedNetworkOptions {
  /** First two octets of the network's /16, such as `10.99`. */
  readonly prefix: string;
  /** The machine's own addresses in the network. The first is the gateway of all others. */
  readonly hostAddresses: readonly string[];
  /** This TCP port of the gateway leads to the same port on the machine's loopback. */
  readonly loopbackPort: number;
  /** Interfaces of the machine through which members reach the outside, under the machine's address. */
  readonly uplinks?: readonly string[];
}

/** The file system that keeps named namespaces; `ip netns` shows what is there. */
export const namespaceDirectory = "/run/netns";
/** What a namespace calls its end of the cable. */
const namespaceInterface = "eth0";

export function bridgeName(prefix: string): string {
  return `pvbr-${prefix.replaceAll(".", "-")}`;
}

/** Namespace and cable of one address have the same name: it says which address, and is short enough for the kernel. */
export function memberName(address: string): string {
  const octets = address.split(".").map((octet) => Number(octet).toString(16).padStart(2, "0"));
  return `pv${octets.join("")}`;
}

/** With which the names of all members of a network begin. */
export function memberPrefix(prefix: string): string {
  return memberName(prefix);
}

export function bridgeCommands({ prefix, hostAddresses }: BridgedNetworkOptions, exists: boolean): string {
  const bridge = bridgeName(prefix);
  const [gateway = `${prefix}.0.1`, ...others] = hostAddresses;
  return lines([
    // A fixed hardware address: otherwise the bridge takes on one of its members', and changes it when that one leaves.
    ...(exists ? [] : [`link add ${bridge} address ${hardwareAddress(gateway)} type bridge`]),
    `addr replace ${gateway}/16 dev ${bridge}`,
    ...others.map((address) => `addr replace ${address}/32 dev ${bridge}`),
    `link set ${bridge} up`,
  ]);
}

export function attachCommands(prefix: string, address: string): { outside: string; inside: string } {
  const name = memberName(address);
  return {
    outside: lines([
      `netns add ${name}`,
      `link add ${name} type veth peer name ${namespaceInterface} netns ${name}`,
      `link set ${name} master ${bridgeName(prefix)} up`,
    ]),
    inside: lines([
      "link set lo up",
      `addr add ${address}/16 brd + dev ${namespaceInterface}`,
      `link set ${namespaceInterface} up`,
      `route add default via ${prefix}.0.1`,
    ]),
  };
}

export function detachCommands(name: string, present: { readonly link: boolean; readonly namespace: boolean }): string {
  return lines([...(present.link ? [`link del ${name}`] : []), ...(present.namespace ? [`netns del ${name}`] : [])]);
}

export function rulesTable(prefix: string): string {
  return `polyvirt_${prefix.replaceAll(".", "_")}`;
}

/**
 * The rules of the machine for this network. What they say, line by line:
 * - members reach nothing of the machine's loopback, although the bridge may carry packets to it for the one port below
 *   (without this, `route_localnet` would open every service of the loopback to whoever can write raw packets);
 * - nobody outside of the machine reaches the network or the machine by its addresses in it;
 * - one port of the gateway leads to the loopback, for members and for the machine itself;
 * - members reach the outside under the machine's address, and only what they asked for comes back. The machine carries
 *   packets for them, but not from one neighbour to another.
 */
export function firewallRules({ prefix, hostAddresses, loopbackPort, uplinks = [] }: BridgedNetworkOptions): string {
  const table = rulesTable(prefix);
  const bridge = bridgeName(prefix);
  const gateway = hostAddresses[0] ?? `${prefix}.0.1`;
  return lines([
    // Adding before deleting makes deleting possible the first time; all of it takes effect at once.
    `table ip ${table}`,
    `delete table ip ${table}`,
    `table ip ${table} {`,
    " chain guard {",
    "  type filter hook prerouting priority -300; policy accept;",
    `  iifname "${bridge}" ip daddr 127.0.0.0/8 drop`,
    `  iifname != { "${bridge}", "lo" } ip daddr ${prefix}.0.0/16 drop`,
    " }",
    " chain inbound {",
    "  type nat hook prerouting priority -100; policy accept;",
    `  iifname "${bridge}" ip daddr ${gateway} tcp dport ${loopbackPort} dnat to 127.0.0.1:${loopbackPort}`,
    " }",
    " chain own {",
    "  type nat hook output priority -100; policy accept;",
    `  ip daddr ${gateway} tcp dport ${loopbackPort} dnat to 127.0.0.1:${loopbackPort}`,
    " }",
    " chain carried {",
    "  type filter hook forward priority 0; policy accept;",
    // Where the kernel shows bridged packets to these rules, those between two members come by here, too.
    `  iifname "${bridge}" oifname "${bridge}" accept`,
    `  oifname "${bridge}" ct state established,related accept`,
    `  oifname "${bridge}" drop`,
    ...uplinks.map((uplink) => `  iifname "${uplink}" oifname "${uplink}" drop`),
    " }",
    " chain outbound {",
    "  type nat hook postrouting priority 100; policy accept;",
    ...uplinks.map((uplink) => `  oifname "${uplink}" ip saddr ${prefix}.0.0/16 masquerade`),
    " }",
    "}",
  ]);
}

/** Locally administered, and different for every address. */
function hardwareAddress(address: string): string {
  const octets = address.split(".").map((octet) => Number(octet).toString(16).padStart(2, "0"));
  return ["02", "70", ...octets].join(":");
}

function lines(commands: readonly string[]): string {
  return commands.map((command) => `${command}\n`).join("");
}
