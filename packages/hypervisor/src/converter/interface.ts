import type { Interface, VirtualMachineInstance } from "@polyvirt/api";
import type { DomainInterface, DomainInterfacePortForward } from "@polyvirt/domain";
import type { ArchitectureProfile } from "../arch/index.ts";
import type { Configurator } from "../contract.ts";
import { vcpuCount } from "../vcpus.ts";
import type { ConverterContext } from "./context.ts";
import { parsePciAddress } from "./pci-address.ts";
import { guestProfile, userAlias, virtioModel } from "./profile.ts";
import { refuse } from "./refuse.ts";

/** More queues than this bring nothing to a tap device: the kernel serves at most this many. */
const maxQueues = 256;

/** Network interfaces, except those that are host devices (SR-IOV) and those that are being removed. */
export const networkInterface: Configurator = {
  name: "interface",
  configure(domain, vmi, context) {
    const profile = guestProfile(vmi, context);
    const interfaces = (vmi.spec.domain.devices.interfaces ?? [])
      .filter(({ sriov, state }) => sriov === undefined && state !== "absent")
      .map((iface) => ({ ...frontEnd(iface, vmi, profile), ...backEnd(iface, vmi, context) }));
    if (interfaces.length > 0) domain.devices.interfaces = interfaces;
  },
};

/** What the guest sees. */
function frontEnd(iface: Interface, vmi: VirtualMachineInstance, profile: ArchitectureProfile): DomainInterface {
  const model = iface.model || "virtio";
  return {
    model: { type: model === "virtio" ? virtioModel(vmi, profile) : model },
    mac: iface.macAddress ? { address: iface.macAddress.replaceAll("-", ":").toLowerCase() } : undefined,
    alias: userAlias(iface.name),
    // Without a ROM the guest does not try to boot from the network, which would delay every other boot.
    rom: profile.pci && !iface.bootOrder ? { enabled: "no" } : undefined,
    boot: iface.bootOrder ? { order: iface.bootOrder } : undefined,
    acpi: iface.acpiIndex ? { index: iface.acpiIndex } : undefined,
    link: iface.state === "down" ? { state: "down" } : undefined,
    address: iface.pciAddress ? parsePciAddress(iface.pciAddress) : undefined,
  };
}

/** What it is connected to. */
function backEnd(iface: Interface, vmi: VirtualMachineInstance, context: ConverterContext): DomainInterface {
  const network = vmi.spec.networks?.find(({ name }) => name === iface.name);
  const prepared = context.network.interfaces[iface.name];
  const mac = prepared?.macAddress !== undefined && !iface.macAddress ? { mac: { address: prepared.macAddress } } : {};
  if (iface.passtBinding !== undefined) {
    // In a network of its own, the pod's every address is the guest's; otherwise only the one that is the pod's.
    const address = prepared === undefined ? context.network.podAddress : undefined;
    return {
      type: "user",
      backend: { type: "passt" },
      portForwards: portForwards(iface, address) ?? everyPort(address),
      ...mac,
    };
  }
  if (network?.pod !== undefined && context.network.podNetwork === "user" && iface.binding === undefined) {
    return { type: "user", portForwards: portForwards(iface, context.network.podAddress) };
  }
  if (prepared?.tapName === undefined) {
    throw refuse(`spec.domain.devices.interfaces (${iface.name})`, "the pod has no network device for it");
  }
  const virtio = (iface.model || "virtio") === "virtio";
  const queues = Math.min(vcpuCount(vmi.spec.domain), maxQueues);
  const multiqueue = virtio && vmi.spec.domain.devices.networkInterfaceMultiqueue === true && queues > 1;
  return {
    type: "ethernet",
    target: { dev: prepared.tapName, managed: "no" },
    mtu: prepared.mtu === undefined ? undefined : { size: prepared.mtu },
    driver: multiqueue ? { name: "vhost", queues } : undefined,
    ...mac,
  };
}

/** What passt does unless ports are listed. On an address that is one of many, only listed ports can be forwarded. */
function everyPort(address: string | undefined): DomainInterfacePortForward[] | undefined {
  return address === undefined ? [{ proto: "tcp" }, { proto: "udp" }] : undefined;
}

/** Ports of the pod that lead into the guest; user-mode networks forward only what is listed. */
function portForwards(
  { ports = [], portRanges = [] }: Interface,
  address: string | undefined,
): DomainInterfacePortForward[] | undefined {
  const protocol = (name: string | undefined): "tcp" | "udp" => (name?.toUpperCase() === "UDP" ? "udp" : "tcp");
  const forwards = [
    ...ports.map((port) => ({ proto: protocol(port.protocol), address, ranges: [{ start: port.port }] })),
    ...portRanges.map(({ start, end, protocol: name }) => ({
      proto: protocol(name),
      address,
      ranges: [{ start, end }],
    })),
  ];
  return forwards.length === 0 ? undefined : forwards;
}
