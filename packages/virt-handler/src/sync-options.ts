import type { ClusterConfig } from "@polyvirt/hypervisor";
import type { SyncOptions } from "./launcher/launcher-commands.ts";

/** What every launcher is told about the cluster's configuration. */
export function syncOptions(config: ClusterConfig): SyncOptions {
  const { manufacturer, product, version, sku, family } = config.smbios;
  return {
    VirtualMachineSMBios: { manufacturer, product, family, version: version ?? "", sku: sku ?? "" },
    MemBalloonStatsPeriod: config.memBalloonStatsPeriod,
    clusterConfig: {
      FreePageReportingDisabled: !config.freePageReporting,
      SerialConsoleLogDisabled: !config.serialConsoleLog,
    },
  };
}
