import { readFileSync } from "node:fs";
import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Logger } from "@polyvirt/core";
import type { NetworkFacts } from "@polyvirt/hypervisor";
import type { cmdV1 } from "@polyvirt/protocol";
import { startDhcpServer, type DhcpServer } from "./dhcp-server.ts";
import { leaseOf, parseResolvConf, type NameServers } from "./lease.ts";

/** The guest's network as far as the launcher has to do with it: it answers the guest's questions. */
export interface GuestNetwork {
  /** Starts what the interfaces need, once for each; the facts are for the conversion. */
  start(vmi: VirtualMachineInstance, prepared: readonly cmdV1.PreparedInterface[]): Promise<NetworkFacts>;
  close(): void;
}

interface GuestNetworkDependencies {
  readonly podAddress: string | undefined;
  readonly logger: Logger;
  readonly startServer?: typeof startDhcpServer;
  readonly nameServers?: () => NameServers;
}

export function createGuestNetwork(dependencies: GuestNetworkDependencies): GuestNetwork {
  const { podAddress, logger, startServer = startDhcpServer, nameServers = podNameServers } = dependencies;
  const servers = new Map<string, DhcpServer>();
  return {
    async start(vmi, prepared) {
      for (const entry of prepared) {
        const iface = vmi.spec.domain.devices.interfaces?.find(({ name }) => name === entry.name);
        const lease = leaseOf(vmi, iface, entry, nameServers());
        if (lease === undefined || servers.has(entry.name)) continue;
        servers.set(entry.name, await startServer(entry.lease?.bridge ?? "", lease, logger));
      }
      return {
        podNetwork: prepared.some(({ tapName }) => tapName !== "") ? "tap" : "user",
        ...(podAddress === undefined ? {} : { podAddress }),
        interfaces: Object.fromEntries(
          prepared.map(({ name, tapName, mtu, macAddress }) => [
            name,
            { mtu, macAddress, ...(tapName === "" ? {} : { tapName }) },
          ]),
        ),
      };
    },
    close() {
      for (const server of servers.values()) server.close();
      servers.clear();
    },
  };
}

function podNameServers(): NameServers {
  try {
    return parseResolvConf(readFileSync("/etc/resolv.conf", "utf8"));
  } catch {
    // A pod without name servers has none to pass on.
    return { addresses: [], search: [] };
  }
}
