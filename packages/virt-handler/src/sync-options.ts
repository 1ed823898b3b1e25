import type { ClusterConfig } from "@polyvirt/hypervisor";
import type { SyncOptions } from "./launcher/launcher-commands.ts";
import type { PreparedInterface } from "./network/prepared-interface.ts";
import type { NodeTopology } from "./node/labeller/topology.ts";

/** What every launcher is told about the cluster's configuration, its node, and its pod's network. */
export function syncOptions(
  config: ClusterConfig,
  topology: NodeTopology,
  prepared: readonly PreparedInterface[],
): SyncOptions {
  const { manufacturer, product, version, sku, family } = config.smbios;
  return {
    VirtualMachineSMBios: { manufacturer, product, family, version: version ?? "", sku: sku ?? "" },
    topology,
    MemBalloonStatsPeriod: config.memBalloonStatsPeriod,
    clusterConfig: {
      FreePageReportingDisabled: !config.freePageReporting,
      SerialConsoleLogDisabled: !config.serialConsoleLog,
    },
    preparedInterfaces: prepared.map(({ name, tapName, mtu, macAddress, lease }) => ({
      name,
      tapName: tapName ?? "",
      mtu,
      macAddress,
      ...(lease === undefined ? {} : { lease: { ...lease, routes: [...lease.routes] } }),
    })),
  };
}
