import type { Interface, VirtualMachineInstance } from "@polyvirt/api";
import { cmdV1, create } from "@polyvirt/protocol";
import { describe, expect, it } from "vitest";
import { optionCode } from "./dhcp-message.ts";
import { leaseOf, parseResolvConf, type NameServers } from "./lease.ts";

const vmi: VirtualMachineInstance = {
  metadata: { name: "web.example", namespace: "default" },
  spec: { domain: { devices: {} } },
};
const noNames: NameServers = { addresses: [], search: [] };

function prepared(
  routes: { destination: string; gateway: string }[] = [],
  gateway = "10.0.2.1",
): cmdV1.PreparedInterface {
  return create(cmdV1.PreparedInterfaceSchema, {
    name: "default",
    tapName: "tap0",
    mtu: 1400,
    macAddress: "02:00:00:00:00:01",
    lease: { bridge: "k6t-eth0", serverAddress: "10.0.2.1", address: "10.0.2.2/23", gateway, routes },
  });
}

function optionsOf(iface?: Interface, names = noNames, entry = prepared()): Map<number, number[]> {
  const lease = leaseOf(vmi, iface, entry, names);
  return new Map([...(lease?.options ?? [])].map(([code, value]) => [code, [...value]]));
}

const text = (value: string): number[] => [...new TextEncoder().encode(value)];

describe("leaseOf", () => {
  it("tells address, mask, gateway, name and packet size", () => {
    expect(leaseOf(vmi, undefined, prepared(), noNames)).toMatchObject({
      address: "10.0.2.2",
      serverAddress: "10.0.2.1",
      hardwareAddress: "02:00:00:00:00:01",
    });
    expect(optionsOf()).toEqual(
      new Map([
        [optionCode.leaseSeconds, [0, 1, 81, 128]],
        [optionCode.serverIdentifier, [10, 0, 2, 1]],
        [optionCode.subnetMask, [255, 255, 254, 0]],
        [optionCode.router, [10, 0, 2, 1]],
        [optionCode.hostName, text("web")],
        [optionCode.interfaceMtu, [5, 120]],
      ]),
    );
  });

  it("passes the pod's name servers and search list on", () => {
    const options = optionsOf(undefined, { addresses: ["10.96.0.10", "1.1.1.1"], search: ["a.svc", "local"] });
    expect(options.get(optionCode.domainNameServers)).toEqual([10, 96, 0, 10, 1, 1, 1, 1]);
    expect(options.get(optionCode.domainName)).toEqual(text("a.svc"));
    expect(options.get(optionCode.domainSearch)).toEqual([
      1,
      ...text("a"),
      3,
      ...text("svc"),
      0,
      5,
      ...text("local"),
      0,
    ]);
  });

  it("writes the pod's routes with their significant octets only, and the default route among them", () => {
    const routes = [
      { destination: "10.0.0.0/8", gateway: "10.0.2.9" },
      { destination: "192.168.128.0/17", gateway: "10.0.2.8" },
    ];
    expect(optionsOf(undefined, noNames, prepared(routes)).get(optionCode.classlessRoutes)).toEqual([
      8, 10, 10, 0, 2, 9, 17, 192, 168, 128, 10, 0, 2, 8, 0, 10, 0, 2, 1,
    ]);
  });

  it("names no gateway where there is none", () => {
    expect(optionsOf(undefined, noNames, prepared([], "")).has(optionCode.router)).toBe(false);
  });

  it("adds what the VMI asks for, within the range of private use", () => {
    const options = optionsOf({
      name: "default",
      dhcpOptions: {
        bootFileName: "boot.img",
        tftpServerName: "tftp.example",
        ntpServers: ["10.1.1.1", "10.1.1.2"],
        privateOptions: [
          { option: 240, value: "extra" },
          { option: 53, value: "evil" },
        ],
      },
    });
    expect(options.get(optionCode.bootFileName)).toEqual(text("boot.img"));
    expect(options.get(optionCode.tftpServerName)).toEqual(text("tftp.example"));
    expect(options.get(optionCode.ntpServers)).toEqual([10, 1, 1, 1, 10, 1, 1, 2]);
    expect(options.get(240)).toEqual(text("extra"));
    expect(options.has(53)).toBe(false);
  });

  it("is nothing where the pod has no address to give", () => {
    expect(
      leaseOf(vmi, undefined, create(cmdV1.PreparedInterfaceSchema, { name: "default" }), noNames),
    ).toBeUndefined();
  });
});

describe("parseResolvConf", () => {
  it("takes what a guest can use", () => {
    const content = [
      "# comment",
      "nameserver 127.0.0.53",
      "nameserver  10.96.0.10",
      "nameserver fd00::1",
      "search default.svc.cluster.local svc.cluster.local",
      "options ndots:5",
    ].join("\n");
    expect(parseResolvConf(content)).toEqual({
      addresses: ["10.96.0.10"],
      search: ["default.svc.cluster.local", "svc.cluster.local"],
    });
  });
});
