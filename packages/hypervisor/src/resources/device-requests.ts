import type { VirtualMachineInstance } from "@polyvirt/api";
import type { ClusterConfig } from "../cluster-config.ts";
import type { DeviceRequest, NodeInformation } from "../contract.ts";
import { usesVfio } from "./device-use.ts";

/** Namespace of the resources that the node agent's own device plug-ins offer. */
const resourcePrefix = "devices.kubevirt.io/";

interface DeviceRule {
  readonly device: string;
  readonly reason: string;
  /** A guest that gets on without it (slower, or by another way) only asks for it where a node has it. */
  readonly optional: boolean;
  readonly wanted: (vmi: VirtualMachineInstance, config: ClusterConfig) => boolean;
}

const hasNetwork = ({ spec }: VirtualMachineInstance): boolean => (spec.domain.devices.interfaces?.length ?? 0) > 0;

const rules: readonly DeviceRule[] = [
  { device: "tun", reason: "network interfaces reach the pod through tap devices", optional: true, wanted: hasNetwork },
  {
    device: "vhost-net",
    reason: "the kernel moves the packets of virtio interfaces",
    optional: true,
    wanted: hasNetwork,
  },
  {
    device: "vhost-vsock",
    reason: "autoattachVSOCK",
    optional: false,
    wanted: ({ spec }) => spec.domain.devices.autoattachVSOCK === true,
  },
  {
    device: "sev",
    reason: "launchSecurity.sev or .snp",
    optional: false,
    wanted: ({ spec }) => (spec.domain.launchSecurity?.sev ?? spec.domain.launchSecurity?.snp) !== undefined,
  },
  {
    device: "tdx",
    reason: "launchSecurity.tdx",
    optional: false,
    wanted: ({ spec }) => spec.domain.launchSecurity?.tdx !== undefined,
  },
  {
    device: "iommufd",
    reason: "host devices, with feature gate IOMMUFD",
    optional: false,
    wanted: ({ spec }, config) => config.isEnabled("IOMMUFD") && usesVfio(spec),
  },
  {
    device: "pr-helper",
    reason: "a lun with persistent reservation",
    optional: false,
    wanted: ({ spec }) => spec.domain.devices.disks?.some((disk) => disk.lun?.reservation === true) ?? false,
  },
];

export function deviceRequests(
  node: NodeInformation,
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): DeviceRequest[] {
  const request = (device: string, optional: boolean, reason: string): DeviceRequest => ({
    device,
    resourceName: `${resourcePrefix}${device}`,
    quantity: 1,
    optional,
    reason,
  });
  const found = rules
    .filter(({ wanted }) => wanted(vmi, config))
    .map(({ device, optional, reason }) => request(device, optional, reason));
  // With emulation allowed the guest runs without the device too, so asking for it would only keep it off such nodes.
  const hypervisor = request(node.hypervisorDevice, config.useEmulation, "the guest runs on the node's hypervisor");
  const auxiliary = (node.auxiliaryDevices ?? []).map(({ device, optional, reason }) =>
    request(device, optional || config.useEmulation, reason),
  );
  return [hypervisor, ...auxiliary, ...found];
}
