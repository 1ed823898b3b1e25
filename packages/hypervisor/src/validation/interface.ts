import type { Interface, Network } from "@polyvirt/api";
import { isPciAddress } from "../converter/pci-address.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

const bindings = ["bridge", "masquerade", "sriov", "passtBinding", "binding", "macvtap", "passt", "slirp"] as const;
/** Bindings that KubeVirt removed; their fields are still in the API. */
const removedBindings = ["macvtap", "passt", "slirp"] as const;
const models = ["", "virtio", "e1000", "e1000e", "igb", "ne2k_pci", "pcnet", "rtl8139"];
const states = ["", "up", "down", "absent"];
/** The address of the bridge inside the pod: a guest with the same one could not be reached. */
const bridgeMacAddress = "02:00:00:00:00:00";

function checkNetworks({ spec, field }: Subject, report: Report): void {
  const seen = new Set<string>();
  const used = new Set((spec.domain.devices.interfaces ?? []).map(({ name }) => name));
  for (const [index, network] of (spec.networks ?? []).entries()) {
    const at = `${field}.networks[${index}]`;
    if (seen.has(network.name)) {
      report.duplicate(
        `${at}.name`,
        `Network with name "${network.name}" already exists, every network must have a unique name`,
      );
    }
    seen.add(network.name);
    const types = [network.pod, network.multus, network.resourceClaim].filter((type) => type !== undefined);
    if (types.length === 0) report.required(at, "should have a network type");
    if (types.length > 1) report.required(at, "should have only one network type");
    if (network.multus !== undefined && !network.multus.networkName)
      report.required(at, "CNI delegating plugin must have a networkName");
    if (!used.has(network.name)) report.invalid(`${at}.name`, `${at}.name '${network.name}' not found.`);
  }
  const podInterfaces = (spec.domain.devices.interfaces ?? []).filter(
    ({ name }) => networkOf(name, spec.networks)?.pod !== undefined,
  );
  if (podInterfaces.length > 1) {
    report.duplicate(
      `${field}.domain.devices.interfaces`,
      `more than one interface is connected to a pod network in ${field}.interfaces`,
    );
  }
}

const networkOf = (name: string, networks: readonly Network[] | undefined): Network | undefined =>
  networks?.find((network) => network.name === name);

function checkNames({ spec, field }: Subject, report: Report): void {
  const seen = new Set<string>();
  for (const [index, { name }] of (spec.domain.devices.interfaces ?? []).entries()) {
    const at = `${field}.domain.devices.interfaces[${index}].name`;
    if (networkOf(name, spec.networks) === undefined) report.invalid(at, `${at} '${name}' not found.`);
    if (seen.has(name)) report.duplicate(at, "Only one interface can be connected to one specific network");
    seen.add(name);
    if (!/^[A-Za-z0-9_-]+$/.test(name)) {
      report.invalid(
        at,
        "Network interface name can only contain alphabetical characters, numbers, dashes (-) or underscores (_)",
      );
    }
  }
}

function checkBindings({ spec, field, config }: Subject, report: Report): void {
  for (const [index, iface] of (spec.domain.devices.interfaces ?? []).entries()) {
    const at = `${field}.domain.devices.interfaces[${index}]`;
    const network = networkOf(iface.name, spec.networks);
    const given = bindings.filter((binding) => iface[binding] !== undefined);
    if (given.length !== 1)
      report.invalid(at, `logical ${iface.name} interface must have exactly one binding method or binding plugin`);
    for (const binding of removedBindings) {
      if (iface[binding] !== undefined)
        report.notSupported(
          `${at}.${binding}`,
          `${at}.${binding} was removed, please use masquerade, bridge or passtBinding`,
        );
    }
    if (iface.masquerade !== undefined && network !== undefined && network.pod === undefined) {
      report.invalid(`${at}.name`, "Masquerade interface only implemented with pod network");
    }
    if (iface.passtBinding !== undefined && network !== undefined && network.pod === undefined) {
      report.invalid(`${at}.name`, "Passt interface only implemented with pod network");
    }
    if (iface.bridge !== undefined && network?.pod !== undefined && !config.permitBridgeOnPodNetwork) {
      report.invalid(`${at}.name`, "Bridge on pod network configuration is not enabled under kubevirt-config");
    }
    if (iface.binding !== undefined && config.networkBindings[iface.binding.name] === undefined) {
      report.invalid(
        `${at}.binding.name`,
        `network binding plugin '${iface.binding.name}' is not registered in the KubeVirt configuration`,
      );
    }
  }
}

function checkDevice({ spec, field }: Subject, report: Report): void {
  for (const [index, iface] of (spec.domain.devices.interfaces ?? []).entries()) {
    const at = `${field}.domain.devices.interfaces[${index}]`;
    if (!models.includes(iface.model ?? "")) {
      report.notSupported(`${at}.model`, `interface ${at}.name uses model ${iface.model} that is not supported.`);
    }
    if (!states.includes(iface.state ?? ""))
      report.invalid(`${at}.state`, `logical ${iface.name} interface state value is unsupported: ${iface.state}`);
    if (iface.state === "down" && iface.sriov !== undefined)
      report.invalid(`${at}.state`, `${at}.state down is not possible for a SR-IOV interface`);
    checkMac(iface, at, report);
    if (iface.pciAddress && !isPciAddress(iface.pciAddress)) {
      report.invalid(`${at}.pciAddress`, `interface ${at}.name has malformed PCI address (${iface.pciAddress}).`);
    }
    checkPorts(iface, at, report);
  }
}

function checkMac({ macAddress }: Interface, at: string, report: Report): void {
  if (!macAddress) return;
  const normal = macAddress.replaceAll("-", ":").toLowerCase();
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(normal)) {
    report.invalid(`${at}.macAddress`, `interface ${at}.name has malformed MAC address (${macAddress}).`);
  } else if (normal === bridgeMacAddress) {
    report.invalid(
      `${at}.macAddress`,
      "The requested MAC address is reserved for the in-pod bridge. Please choose another one.",
    );
  } else if ((Number.parseInt(normal.slice(0, 2), 16) & 1) === 1) {
    report.invalid(`${at}.macAddress`, `interface ${at}.name has a multicast MAC address (${macAddress}).`);
  }
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536;
const protocols = ["", "TCP", "UDP"];

function checkPorts(
  { ports = [], portRanges = [], masquerade, passtBinding }: Interface,
  at: string,
  report: Report,
): void {
  const names = new Set<string>();
  for (const [index, { name, port, protocol }] of ports.entries()) {
    const portField = `${at}.ports[${index}]`;
    if (!isPort(port))
      report.invalid(`${portField}.port`, `Port field is mandatory and must be between 0 and 65536, got ${port}`);
    if (!protocols.includes(protocol ?? ""))
      report.invalid(`${portField}.protocol`, `Unknown protocol, only TCP or UDP allowed, got ${protocol}`);
    if (name && names.has(name)) report.invalid(`${portField}.name`, `Duplicate name of the port: ${name}`);
    if (name) names.add(name);
  }
  if (portRanges.length > 0 && ports.length > 0)
    report.invalid(`${at}.portRanges`, `${at}.portRanges cannot be combined with ${at}.ports`);
  if (portRanges.length > 0 && masquerade === undefined && passtBinding === undefined) {
    report.invalid(`${at}.portRanges`, `${at}.portRanges needs a masquerade interface`);
  }
  for (const [index, { start, end, protocol }] of portRanges.entries()) {
    const rangeField = `${at}.portRanges[${index}]`;
    if (!isPort(start) || !isPort(end) || end < start)
      report.invalid(rangeField, `${rangeField} is no range of ports between 1 and 65535`);
    if (!["TCP", "UDP"].includes(protocol))
      report.invalid(`${rangeField}.protocol`, `Unknown protocol, only TCP or UDP allowed, got ${protocol}`);
  }
}

export const interfaceRules: readonly ValidationRule[] = [
  { name: "networks", check: checkNetworks },
  { name: "interface-names", check: checkNames },
  { name: "interface-bindings", check: checkBindings },
  { name: "interface-device", check: checkDevice },
];
