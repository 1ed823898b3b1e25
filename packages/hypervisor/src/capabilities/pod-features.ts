import type { Volume } from "@polyvirt/api";
import { each, type Spec } from "./feature.ts";

const volume = <Source extends Exclude<keyof Volume, "name">>(source: Source) =>
  each(
    `volumes.${source}`,
    `Volume source ${source}`,
    "volumes[]",
    (spec) => spec.volumes,
    (item) => item[source] !== undefined,
  );

const interfaces = ({ domain }: Spec) => domain.devices.interfaces;

/** What the launcher's pod has to bring: volumes, networks, claims, credentials. */
export const podFeatures = [
  each("interfaces.passt", "Network by passt", "domain.devices.interfaces[].passtBinding", interfaces, (iface) => {
    return iface.passtBinding !== undefined;
  }),
  each("interfaces.sriov", "Network by SR-IOV", "domain.devices.interfaces[].sriov", interfaces, (iface) => {
    return iface.sriov !== undefined;
  }),
  each("interfaces.binding", "Network by a plug-in", "domain.devices.interfaces[].binding", interfaces, (iface) => {
    return iface.binding !== undefined;
  }),
  each("interfaces.dhcp-options", "DHCP options", "domain.devices.interfaces[].dhcpOptions", interfaces, (iface) => {
    return iface.dhcpOptions !== undefined;
  }),
  each(
    "interfaces.pci-address",
    "Chosen PCI address of an interface",
    "domain.devices.interfaces[].pciAddress",
    interfaces,
    (iface) => Boolean(iface.pciAddress),
  ),
  each(
    "interfaces.acpi-index",
    "Chosen ACPI index of an interface",
    "domain.devices.interfaces[].acpiIndex",
    interfaces,
    (iface) => Boolean(iface.acpiIndex),
  ),
  each(
    "interfaces.emulated-model",
    "Emulated network adapters",
    "domain.devices.interfaces[].model",
    interfaces,
    (iface) => !["", "virtio"].includes(iface.model ?? ""),
  ),
  each("interfaces.tag", "Tag of an interface", "domain.devices.interfaces[].tag", interfaces, ({ tag }) => {
    return Boolean(tag);
  }),
  each(
    "networks.multus",
    "Networks by Multus",
    "networks[].multus",
    (spec) => spec.networks,
    (network) => {
      return network.multus !== undefined;
    },
  ),
  each(
    "networks.resource-claim",
    "Networks by resource claim",
    "networks[].resourceClaim",
    (spec) => spec.networks,
    (network) => network.resourceClaim !== undefined,
  ),
  each(
    "networks.pod-cidr",
    "Addresses of the pod network inside the guest",
    "networks[].pod",
    (spec) => spec.networks,
    ({ pod }) => Boolean(pod?.vmNetworkCIDR),
  ),
  each(
    "networks.pod-cidr-ipv6",
    "IPv6 addresses of the pod network inside the guest",
    "networks[].pod",
    (spec) => spec.networks,
    ({ pod }) => Boolean(pod?.vmIPv6NetworkCIDR),
  ),
  volume("cloudInitConfigDrive"),
  volume("cloudInitNoCloud"),
  volume("configMap"),
  volume("containerDisk"),
  volume("containerPath"),
  volume("dataVolume"),
  volume("downwardAPI"),
  volume("downwardMetrics"),
  volume("emptyDisk"),
  volume("ephemeral"),
  volume("hostDisk"),
  volume("memoryDump"),
  volume("persistentVolumeClaim"),
  volume("secret"),
  volume("serviceAccount"),
  volume("sysprep"),
  each("utility-volumes", "Utility volumes", "utilityVolumes[]", (spec) => spec.utilityVolumes),
  each("access-credentials", "Access credentials", "accessCredentials[]", (spec) => spec.accessCredentials),
  each("resource-claims", "Claims of dynamic resources", "resourceClaims[]", (spec) => spec.resourceClaims),
] as const;
