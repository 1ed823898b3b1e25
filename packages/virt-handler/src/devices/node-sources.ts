import type { PermittedHostDevices } from "@polyvirt/api";
import type { KernelTree } from "@polyvirt/host";
import type { DeviceSource } from "./device-source.ts";
import { mediatedSource } from "./mediated-devices.ts";
import { nodeDevice } from "./node-device.ts";
import { pciSource } from "./pci-devices.ts";
import { usbSource } from "./usb-devices.ts";

export interface NodeSourcesDeps {
  readonly sys: KernelTree;
  readonly dev: KernelTree;
  /** Name below /dev of the device of this cluster's hypervisor. */
  readonly hypervisorDevice: string;
  /** Whether a guest has really run on it. */
  readonly isHypervisorUsable: () => boolean;
  readonly permitted: PermittedHostDevices | undefined;
}

/** Devices that every node is asked for, where they are in /dev. */
const shared: readonly { readonly name: string; readonly file: string }[] = [
  { name: "tun", file: "net/tun" },
  { name: "vhost-net", file: "vhost-net" },
  { name: "vhost-vsock", file: "vhost-vsock" },
];

/** Everything that this node has to offer to guests. */
export function nodeSources(deps: NodeSourcesDeps): DeviceSource[] {
  const { sys, dev, hypervisorDevice, isHypervisorUsable } = deps;
  const { pciHostDevices = [], mediatedDevices = [], usb = [] } = deps.permitted ?? {};
  const ours = <T extends { externalResourceProvider?: boolean }>(list: readonly T[]): T[] =>
    list.filter(({ externalResourceProvider }) => externalResourceProvider !== true);
  return [
    nodeDevice({
      name: hypervisorDevice,
      path: `/dev/${hypervisorDevice}`,
      isUsable: () => dev.exists(hypervisorDevice) && isHypervisorUsable(),
    }),
    ...shared.map(({ name, file }) => nodeDevice({ name, path: `/dev/${file}`, isUsable: () => dev.exists(file) })),
    ...ours(pciHostDevices).map((permitted) => pciSource(permitted, sys, dev)),
    ...ours(mediatedDevices).map((permitted) => mediatedSource(permitted, sys, dev)),
    ...ours(usb).map((permitted) => usbSource(permitted, sys, dev)),
  ];
}
