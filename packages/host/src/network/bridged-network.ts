import * as fs from "node:fs";
import * as path from "node:path";
import { errors } from "../errors.ts";
import {
  attachCommands,
  bridgeCommands,
  bridgeName,
  detachCommands,
  firewallRules,
  memberName,
  memberPrefix,
  namespaceDirectory,
  rulesTable,
  type BridgedNetworkOptions,
} from "./bridged-network-plan.ts";
import { restoreForwarding, switchForwardingOn } from "./forwarding.ts";
import { runProgram } from "./run-program.ts";

/**
 * A private network inside of this machine: a bridge, and network namespaces that are connected to it. Everything is kept
 * by the kernel under names that follow from the addresses, so it outlives this program and the next one finds it again.
 */
export interface BridgedNetwork {
  /** Makes bridge and rules, or puts right what an earlier program has left. Fails where the machine does not allow it. */
  open(): Promise<void>;
  /**
   * A namespace with this address, for `owner`; the path by which it is entered. What is there already for the same owner
   * is left as it is, so that processes in it keep their connections.
   */
  attach(address: string, owner: string): Promise<string>;
  detach(address: string): Promise<void>;
}

const linkDirectory = "/sys/class/net";

/**
 * SAFETY: the prefix and all addresses are checked to be numbers before they become part of a command, and no other text
 * does. The machine's own interfaces, routes and rules are not touched: there is one bridge, cables that end in it, and
 * one table of rules of its own name.
 */
export function createBridgedNetwork(options: BridgedNetworkOptions): BridgedNetwork {
  const { prefix } = options;
  for (const address of options.hostAddresses) assertMember(prefix, address);
  for (const uplink of options.uplinks ?? []) assertLink(uplink);
  const bridge = bridgeName(prefix);
  return {
    async open() {
      if (process.getuid?.() !== 0) throw errors.HostUnsupported("make a network of namespaces: only root can do that");
      await ip(bridgeCommands(options, hasLink(bridge)));
      // SAFETY: lets packets from this bridge reach the loopback; the rules below let through those for one port only,
      // and they are in force before the first namespace is connected.
      fs.writeFileSync(`/proc/sys/net/ipv4/conf/${bridge}/route_localnet`, "1");
      await runProgram("nft", { arguments: ["-f", "-"], stdin: firewallRules(options) });
      // SAFETY: after the rules, which keep what is carried to what members ask for.
      fs.writeFileSync(`/proc/sys/net/ipv4/conf/${bridge}/forwarding`, "1");
      for (const uplink of options.uplinks ?? []) switchForwardingOn(uplink);
    },
    async attach(address, owner) {
      assertMember(prefix, address);
      const name = memberName(address);
      const namespace = path.join(namespaceDirectory, name);
      if (ownerOf(name) === owner && fs.existsSync(namespace)) return namespace;
      await detachMember(name);
      const { outside, inside } = attachCommands(prefix, address);
      await ip(outside);
      await ip(inside, ["-n", name]);
      // Written last: a namespace without an owner is one that was not finished.
      fs.writeFileSync(path.join(linkDirectory, name, "ifalias"), owner);
      return namespace;
    },
    async detach(address) {
      assertMember(prefix, address);
      await detachMember(memberName(address));
    },
  };
}

/**
 * Removes the bridge, the rules and every namespace of a network, whoever made them. True when there was anything.
 * Processes that are still in a namespace lose their connection.
 */
export async function removeBridgedNetwork(prefix: string): Promise<boolean> {
  assertPrefix(prefix);
  const members = await membersOf(prefix);
  for (const name of members) await detachMember(name);
  const bridge = bridgeName(prefix);
  const found = hasLink(bridge);
  if (found) {
    await ip(`link del ${bridge}\n`);
    await runProgram("nft", { arguments: ["-f", "-"], stdin: `delete table ip ${rulesTable(prefix)}\n` }).catch(
      ignoreMissing,
    );
  }
  await restoreForwarding();
  return found || members.length > 0;
}

/** The IPv4 networks and addresses that this machine has a route to, such as `10.0.0.0/8`, without the default route. */
export async function usedNetworks(): Promise<string[]> {
  const output = await runProgram("ip", { arguments: ["-json", "-4", "route", "show", "table", "all"] });
  // The format is iproute2's own; entries that are not as expected are left out.
  const routes = JSON.parse(output) as { dst?: unknown }[];
  return routes.flatMap(({ dst }) => (typeof dst === "string" && dst !== "default" ? [dst] : []));
}

/** The interfaces of the machine's IPv4 default routes. */
export async function defaultLinks(): Promise<string[]> {
  const output = await runProgram("ip", { arguments: ["-json", "-4", "route", "show", "default"] });
  // The format is iproute2's own; entries that are not as expected are left out.
  const routes = JSON.parse(output.trim() === "" ? "[]" : output) as { dev?: unknown }[];
  return [...new Set(routes.flatMap(({ dev }) => (typeof dev === "string" ? [dev] : [])))];
}

async function membersOf(prefix: string): Promise<string[]> {
  const [namespaces, links] = await Promise.all([list(namespaceDirectory), list(linkDirectory)]);
  const start = memberPrefix(prefix);
  return [...new Set([...namespaces, ...links])].filter((name) => name.startsWith(start) && name.length === 10);
}

async function detachMember(name: string): Promise<void> {
  const namespace = fs.existsSync(path.join(namespaceDirectory, name));
  const commands = detachCommands(name, { link: hasLink(name), namespace });
  if (commands !== "") await ip(commands, ["-force"]).catch(ignoreMissing);
  if (hasLink(name) || fs.existsSync(path.join(namespaceDirectory, name)))
    throw errors.HostCallFailed(`remove the network namespace ${name}: it is still there`);
}

function ip(commands: string, options: readonly string[] = []): Promise<string> {
  return runProgram("ip", { arguments: [...options, "-batch", "-"], stdin: commands });
}

function hasLink(name: string): boolean {
  return fs.existsSync(path.join(linkDirectory, name));
}

function ownerOf(name: string): string | undefined {
  try {
    return fs.readFileSync(path.join(linkDirectory, name, "ifalias"), "utf8").trim();
  } catch {
    // There is no such link.
    return undefined;
  }
}

async function list(directory: string): Promise<string[]> {
  return fs.promises.readdir(directory).catch(() => []);
}

/** Someone else, or the kernel together with the namespace, has removed it in the meantime. */
function ignoreMissing(): string {
  return "";
}

function assertLink(name: string): void {
  if (!/^[\w.@-]{1,15}$/.test(name) || !hasLink(name))
    throw errors.HostUnsupported(`use the interface ${JSON.stringify(name)}: the machine has none of this name`);
}

function assertPrefix(prefix: string): void {
  if (!/^\d{1,3}\.\d{1,3}$/.test(prefix) || !isOctets(prefix))
    throw errors.HostUnsupported(`use the network ${JSON.stringify(prefix)}: two numbers such as 10.99 are expected`);
}

function assertMember(prefix: string, address: string): void {
  assertPrefix(prefix);
  const octets = address.split(".");
  if (octets.length !== 4 || !address.startsWith(`${prefix}.`) || !isOctets(address))
    throw errors.HostUnsupported(`use the address ${JSON.stringify(address)}: it is not in ${prefix}.0.0/16`);
}

function isOctets(text: string): boolean {
  return text.split(".").every((octet) => /^\d{1,3}$/.test(octet) && Number(octet) <= 255);
}
