import type { Interface, VirtualMachineInstance } from "@polyvirt/api";
import type { cmdV1 } from "@polyvirt/protocol";
import { addressBytes, optionCode } from "./dhcp-message.ts";

/** What one guest is told when it asks for its network configuration. */
export interface Lease {
  /** The guest's hardware address: no other client gets an answer. */
  readonly hardwareAddress: string;
  readonly address: string;
  readonly serverAddress: string;
  /** Everything but the kind of message, in the order in which it is sent. */
  readonly options: ReadonlyMap<number, Uint8Array>;
}

export interface NameServers {
  readonly addresses: readonly string[];
  readonly search: readonly string[];
}

const leaseSeconds = 86_400;

/** Undefined when the node agent has no address for the guest. */
export function leaseOf(
  vmi: VirtualMachineInstance,
  iface: Interface | undefined,
  prepared: cmdV1.PreparedInterface,
  names: NameServers,
): Lease | undefined {
  const { lease } = prepared;
  if (lease === undefined) return undefined;
  const [address = "", length = "32"] = lease.address.split("/");
  return {
    hardwareAddress: prepared.macAddress,
    address,
    serverAddress: lease.serverAddress,
    options: new Map([
      [optionCode.leaseSeconds, uint32(leaseSeconds)],
      [optionCode.serverIdentifier, addressBytes(lease.serverAddress)],
      [optionCode.subnetMask, maskBytes(Number(length))],
      ...routeOptions(lease),
      ...optional(optionCode.domainNameServers, joined(names.addresses.map(addressBytes))),
      [optionCode.hostName, text(hostNameOf(vmi))],
      ...optional(optionCode.domainName, text(names.search[0] ?? "")),
      ...optional(optionCode.domainSearch, joined(names.search.map(domainName))),
      [optionCode.interfaceMtu, uint16(prepared.mtu)],
      ...requestedOptions(iface),
    ]),
  };
}

/** As far as a host name may be long and without what follows a dot. */
function hostNameOf({ spec, metadata }: VirtualMachineInstance): string {
  return (spec.hostname || (metadata.name ?? "").split(".")[0] || "guest").slice(0, 63);
}

type Option = [code: number, value: Uint8Array];

/** A client that understands classless routes ignores the router option, so the default route is in both. */
function routeOptions({ gateway, routes }: cmdV1.GuestLease): Option[] {
  const router = optional(optionCode.router, gateway === "" ? new Uint8Array() : addressBytes(gateway));
  if (routes.length === 0) return router;
  const all = [...routes, ...(gateway === "" ? [] : [{ destination: "0.0.0.0/0", gateway }])];
  return [...router, [optionCode.classlessRoutes, joined(all.map(classlessRoute))]];
}

/** Only the significant octets of the destination, after their number of bits (RFC 3442). */
function classlessRoute({ destination, gateway }: { destination: string; gateway: string }): Uint8Array {
  const [address = "", bits = "32"] = destination.split("/");
  const significant = Math.ceil(Number(bits) / 8);
  return Uint8Array.from([Number(bits), ...addressBytes(address).subarray(0, significant), ...addressBytes(gateway)]);
}

/** What the VMI adds under `dhcpOptions`. */
function requestedOptions(iface: Interface | undefined): Option[] {
  const { bootFileName = "", tftpServerName = "", ntpServers = [], privateOptions = [] } = iface?.dhcpOptions ?? {};
  return [
    ...optional(optionCode.ntpServers, joined(ntpServers.map(addressBytes))),
    ...optional(optionCode.tftpServerName, text(tftpServerName)),
    ...optional(optionCode.bootFileName, text(bootFileName)),
    ...privateOptions
      .filter(({ option }) => option >= 224 && option <= 254)
      .map(({ option, value }): Option => [option, text(value)]),
  ];
}

/** Nameservers and search list of the pod, without servers that only the pod itself can reach. */
export function parseResolvConf(content: string): NameServers {
  const words = content.split("\n").map((line) => line.trim().split(/\s+/));
  return {
    addresses: words
      .flatMap(([keyword, address = ""]) => (keyword === "nameserver" ? [address] : []))
      .filter((address) => /^\d+(\.\d+){3}$/.test(address) && !address.startsWith("127.")),
    search: words.flatMap(([keyword, ...domains]) => (keyword === "search" ? domains : [])).slice(0, 6),
  };
}

function optional(code: number, value: Uint8Array): Option[] {
  return value.length === 0 ? [] : [[code, value]];
}

/** In the form of DNS messages: each label after its length, and a zero at the end. */
function domainName(name: string): Uint8Array {
  const labels = name.split(".").filter((label) => label !== "" && label.length <= 63);
  return joined([...labels.map((label) => joined([Uint8Array.of(label.length), text(label)])), Uint8Array.of(0)]);
}

function maskBytes(length: number): Uint8Array {
  return uint32(length === 0 ? 0 : (0xff_ff_ff_ff << (32 - length)) >>> 0);
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of((value >> 8) & 0xff, value & 0xff);
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of((value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
