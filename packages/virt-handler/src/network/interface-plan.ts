import { createHash } from "node:crypto";
import type { Interface, VirtualMachineInstance } from "@polyvirt/api";
import type { NetworkChange } from "@polyvirt/host";
import { vcpuCount } from "@polyvirt/hypervisor";
import { guestRange } from "./guest-range.ts";
import { masqueradeRules } from "./masquerade-rules.ts";
import type { PodInterface } from "./pod-interface.ts";
import type { PreparedInterface } from "./prepared-interface.ts";

/** What has to be done in the pod's network for one interface of a VMI, and what comes of it. */
export interface InterfacePlan {
  readonly change: NetworkChange;
  readonly prepared: PreparedInterface;
}

export interface PlanContext {
  readonly pod: PodInterface;
  /** Who opens the tap device. */
  readonly launcher: { readonly uid: number; readonly gid: number };
}

const bridgeName = "k6t-eth0";
const tapName = "tap0";
/** The same in every pod, so that a guest that migrates keeps its gateway; no guest may have it. */
const bridgeMac = "02:00:00:00:00:00";
/** From the range for links without routers: the guest only hears it as the sender of its lease. */
const bridgeBindingServer = "169.254.75.10";
const defaultRange = "10.0.2.0/24";

/** The interface that is connected to the pod's network; undefined when there is none. */
export function podInterface(vmi: VirtualMachineInstance): Interface | undefined {
  const pods = new Set((vmi.spec.networks ?? []).filter(({ pod }) => pod !== undefined).map(({ name }) => name));
  return (vmi.spec.domain.devices.interfaces ?? []).find(
    ({ name, state, masquerade, bridge, passtBinding }) =>
      pods.has(name) && state !== "absent" && (masquerade ?? bridge ?? passtBinding) !== undefined,
  );
}

export function planInterface(vmi: VirtualMachineInstance, iface: Interface, context: PlanContext): InterfacePlan {
  if (iface.masquerade !== undefined) return planMasquerade(vmi, iface, context);
  return iface.bridge !== undefined ? planBridge(vmi, iface, context) : planPasst(vmi, iface, context);
}

/** The guest is in a network of its own behind the pod, which translates addresses in both directions. */
function planMasquerade(vmi: VirtualMachineInstance, iface: Interface, context: PlanContext): InterfacePlan {
  const { pod } = context;
  const network = vmi.spec.networks?.find(({ name }) => name === iface.name)?.pod;
  const range = guestRange(network?.vmNetworkCIDR || defaultRange);
  const mac = requestedMac(iface) ?? generatedMac(`${vmi.metadata.uid ?? ""}/${iface.name}`);
  return {
    change: {
      commands: lines([
        `link add ${bridgeName} address ${bridgeMac} type bridge`,
        ...tapCommands(vmi, iface, context),
        `addr add ${range.gateway}/${range.length} dev ${bridgeName}`,
        `link set ${bridgeName} mtu ${pod.mtu} up`,
      ]),
      settings: {
        "net/ipv4/ip_forward": "1",
        [`net/ipv4/conf/${bridgeName}/route_localnet`]: "1",
        ...dhcpSettings,
      },
      rules: masqueradeRules(range, iface, { uplink: pod.name, bridge: bridgeName }),
    },
    prepared: {
      name: iface.name,
      tapName,
      mtu: pod.mtu,
      macAddress: mac,
      podAddresses: addressesOf(pod),
      podInterfaceName: pod.name,
      lease: {
        bridge: bridgeName,
        serverAddress: range.gateway,
        address: `${range.guest}/${range.length}`,
        gateway: range.gateway,
        routes: [],
      },
    },
  };
}

/**
 * The guest takes the pod's place: it gets the pod's hardware address and, over DHCP, its addresses. The pod keeps an
 * interface of the old name with the address, for whoever looks, but it is not connected to anything.
 */
function planBridge(vmi: VirtualMachineInstance, iface: Interface, context: PlanContext): InterfacePlan {
  const { pod } = context;
  const port = `${pod.name}-nic`;
  const address = pod.addresses.find((candidate) => !candidate.includes(":"));
  return {
    change: {
      commands: lines([
        `link set ${pod.name} down`,
        `link set ${pod.name} name ${port}`,
        `addr flush dev ${port}`,
        `link set ${port} address ${generatedMac(`${vmi.metadata.uid ?? ""}/${iface.name}/port`)}`,
        `link add ${bridgeName} address ${bridgeMac} type bridge`,
        `link set ${port} master ${bridgeName} up`,
        ...tapCommands(vmi, iface, context),
        `addr add ${bridgeBindingServer}/32 dev ${bridgeName}`,
        `link set ${bridgeName} mtu ${pod.mtu} up`,
        // A bridge without ports, because not every kernel has dummy interfaces.
        `link add ${pod.name} type bridge`,
        ...(address === undefined ? [] : [`addr add ${address} dev ${pod.name}`]),
      ]),
      // The pod must not answer for the address that is the guest's now.
      settings: { "net/ipv4/conf/all/arp_ignore": "1", ...dhcpSettings },
      rules: "",
    },
    prepared: {
      name: iface.name,
      tapName,
      mtu: pod.mtu,
      macAddress: requestedMac(iface) ?? pod.mac,
      podAddresses: addressesOf(pod),
      podInterfaceName: pod.name,
      ...(address === undefined
        ? {}
        : {
            lease: {
              bridge: bridgeName,
              serverAddress: bridgeBindingServer,
              address,
              gateway: pod.gateway ?? "",
              routes: pod.routes,
            },
          }),
    },
  };
}

/** The launcher makes the guest's connections itself; it only has to be allowed to listen on all ports for it. */
function planPasst(vmi: VirtualMachineInstance, iface: Interface, { pod }: PlanContext): InterfacePlan {
  return {
    change: { commands: "", settings: { "net/ipv4/ip_unprivileged_port_start": "0" }, rules: "" },
    prepared: {
      name: iface.name,
      mtu: pod.mtu,
      macAddress: requestedMac(iface) ?? generatedMac(`${vmi.metadata.uid ?? ""}/${iface.name}`),
      podAddresses: addressesOf(pod),
      podInterfaceName: pod.name,
    },
  };
}

/** For a pod in whose network a plan was begun and not finished: what has to go before it is begun again. */
export function undoCommands(pod: PodInterface, present: readonly string[]): string {
  const port = `${pod.name}-nic`;
  const made = [bridgeName, tapName].filter((name) => present.includes(name));
  const renamed = present.includes(port)
    ? [
        // Beside the renamed interface, one of the old name is the placeholder.
        ...(present.includes(pod.name) ? [`link del ${pod.name}`] : []),
        `link set ${port} down`,
        `link set ${port} name ${pod.name}`,
      ]
    : [];
  return lines([...made.map((name) => `link del ${name}`), ...renamed]);
}

/** The launcher answers DHCP as an ordinary user; the port is below what users may open unless a namespace allows it. */
const dhcpSettings = { "net/ipv4/ip_unprivileged_port_start": "67" };

function tapCommands(vmi: VirtualMachineInstance, iface: Interface, { pod, launcher }: PlanContext): string[] {
  const queues = hasQueues(vmi, iface) ? " multi_queue" : "";
  return [
    `tuntap add dev ${tapName} mode tap user ${launcher.uid} group ${launcher.gid}${queues}`,
    `link set ${tapName} mtu ${pod.mtu} master ${bridgeName} up`,
  ];
}

/** One queue for each CPU of the guest, where it is asked for and the card can do it. */
function hasQueues(vmi: VirtualMachineInstance, { model }: Interface): boolean {
  const { domain } = vmi.spec;
  return (
    domain.devices.networkInterfaceMultiqueue === true && (model || "virtio") === "virtio" && vcpuCount(domain) > 1
  );
}

function requestedMac({ macAddress }: Interface): string | undefined {
  return macAddress ? macAddress.replaceAll("-", ":").toLowerCase() : undefined;
}

/** Locally administered, the same at every start. */
function generatedMac(seed: string): string {
  const bytes = createHash("sha256").update(seed).digest().subarray(0, 5);
  return ["02", ...[...bytes].map((byte) => byte.toString(16).padStart(2, "0"))].join(":");
}

function addressesOf(pod: PodInterface): string[] {
  return pod.addresses.map((address) => address.split("/")[0] ?? "");
}

function lines(commands: readonly string[]): string {
  return commands.map((command) => `${command}\n`).join("");
}
