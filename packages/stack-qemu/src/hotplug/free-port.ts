import { errors } from "@polyvirt/stack";
import type { QmpClient } from "../qmp/qmp-client.ts";

// The shape of `query-pci` is QEMU's published schema.
interface PciBus {
  readonly devices: readonly PciDevice[];
}

interface PciDevice {
  readonly qdev_id?: string;
  readonly pci_bridge?: { readonly devices?: readonly PciDevice[] };
}

/** A port of the definition into which nothing is plugged; the main bus itself cannot be changed while the guest runs. */
export async function freePort(monitor: QmpClient): Promise<string> {
  const buses = (await monitor.execute("query-pci")) as PciBus[];
  const port = freePorts(buses)[0];
  if (port === undefined) {
    throw errors.StackCommandFailed(
      "plug in a PCI device: every port is taken; define the machine with more pcie-root-ports",
    );
  }
  return port;
}

export function freePorts(buses: readonly PciBus[]): string[] {
  return buses
    .flatMap((bus) => bus.devices)
    .filter((device) => device.pci_bridge !== undefined && (device.pci_bridge.devices ?? []).length === 0)
    .flatMap((device) => (device.qdev_id?.startsWith("pci.") === true ? [device.qdev_id] : []));
}
