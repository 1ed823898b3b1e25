import { describe, expect, it } from "vitest";
import { type Case, causeOf, causes, type Domain, type Spec } from "../testing/validation.ts";

const pod = { name: "default", pod: {} };
const nic = (...list: NonNullable<Domain["devices"]>["interfaces"] & {}): Domain => ({ devices: { interfaces: list } });
const firstNic = "spec.domain.devices.interfaces[0]";

describe("networks", () => {
  const on = (...networks: NonNullable<Spec["networks"]>): Spec => ({ networks });
  it.each<Case>([
    {
      domain: nic({ name: "red", masquerade: {} }),
      field: `${firstNic}.name`,
      message: `${firstNic}.name 'red' not found.`,
    },
    {
      domain: nic({ name: "default", masquerade: {} }, { name: "default", masquerade: {} }),
      spec: on(pod),
      reason: "FieldValueDuplicate",
      field: "spec.domain.devices.interfaces[1].name",
      message: "Only one interface can be connected to one specific network",
    },
    {
      domain: nic({ name: "bad name", masquerade: {} }),
      field: `${firstNic}.name`,
      message:
        "Network interface name can only contain alphabetical characters, numbers, dashes (-) or underscores (_)",
    },
    {
      domain: nic({ name: "m", masquerade: {} }),
      spec: on({ name: "m", multus: { networkName: "n" } }),
      field: `${firstNic}.name`,
      message: "Masquerade interface only implemented with pod network",
    },
    {
      domain: nic({ name: "default", bridge: {} }),
      spec: on(pod),
      configuration: { network: { permitBridgeInterfaceOnPodNetwork: false } },
      field: `${firstNic}.name`,
      message: "Bridge on pod network configuration is not enabled under kubevirt-config",
    },
    { spec: on(pod), field: "spec.networks[0].name", message: "spec.networks[0].name 'default' not found." },
    {
      spec: on(pod, pod),
      reason: "FieldValueDuplicate",
      field: "spec.networks[1].name",
      message: 'Network with name "default" already exists, every network must have a unique name',
    },
    {
      spec: on({ name: "a" }),
      reason: "FieldValueRequired",
      field: "spec.networks[0]",
      message: "should have a network type",
    },
    {
      spec: on({ name: "a", pod: {}, multus: { networkName: "n" } }),
      reason: "FieldValueRequired",
      field: "spec.networks[0]",
      message: "should have only one network type",
    },
    {
      spec: on({ name: "a", multus: { networkName: "" } }),
      reason: "FieldValueRequired",
      field: "spec.networks[0]",
      message: "CNI delegating plugin must have a networkName",
    },
    {
      domain: nic({ name: "default", bridge: {} }, { name: "other", bridge: {} }),
      spec: on(pod, { name: "other", pod: {} }),
      reason: "FieldValueDuplicate",
      field: "spec.domain.devices.interfaces",
      message: "more than one interface is connected to a pod network in spec.interfaces",
    },
    {
      domain: nic({ name: "default" }),
      spec: on(pod),
      field: firstNic,
      message: "logical default interface must have exactly one binding method or binding plugin",
    },
    {
      domain: nic({ name: "default", bridge: {}, model: "tulip" }),
      spec: on(pod),
      reason: "FieldValueNotSupported",
      field: `${firstNic}.model`,
      message: `interface ${firstNic}.name uses model tulip that is not supported.`,
    },
    {
      domain: nic({ name: "default", bridge: {}, macAddress: "de:ad" }),
      spec: on(pod),
      field: `${firstNic}.macAddress`,
      message: `interface ${firstNic}.name has malformed MAC address (de:ad).`,
    },
    {
      domain: nic({ name: "default", bridge: {}, macAddress: "02-00-00-00-00-00" }),
      spec: on(pod),
      field: `${firstNic}.macAddress`,
      message: "The requested MAC address is reserved for the in-pod bridge. Please choose another one.",
    },
    {
      domain: nic({ name: "default", bridge: {}, pciAddress: "81:01.0" }),
      spec: on(pod),
      field: `${firstNic}.pciAddress`,
      message: `interface ${firstNic}.name has malformed PCI address (81:01.0).`,
    },
    {
      domain: nic({
        name: "default",
        masquerade: {},
        ports: [
          { name: "http", port: 80 },
          { name: "http", port: 81 },
        ],
      }),
      spec: on(pod),
      field: `${firstNic}.ports[1].name`,
      message: "Duplicate name of the port: http",
    },
    {
      domain: nic({ name: "default", slirp: {} }),
      spec: on(pod),
      reason: "FieldValueNotSupported",
      field: `${firstNic}.slirp`,
      message: `${firstNic}.slirp was removed, please use masquerade, bridge or passtBinding`,
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });
});
