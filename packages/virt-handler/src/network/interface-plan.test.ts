import type { Interface, VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { vmiWith } from "../testing/objects.ts";
import { planInterface, podInterface, undoCommands, type InterfacePlan } from "./interface-plan.ts";
import type { PodInterface } from "./pod-interface.ts";

const pod: PodInterface = {
  name: "eth0",
  mac: "0a:58:0a:f4:00:05",
  mtu: 1450,
  addresses: ["10.244.0.5/24"],
  gateway: "10.244.0.1",
  routes: [{ destination: "10.244.0.0/16", gateway: "10.244.0.1" }],
};

function vmiOf(iface: Partial<Interface>, cidr?: string): VirtualMachineInstance {
  const vmi = vmiWith();
  return {
    ...vmi,
    spec: {
      domain: { cpu: { cores: 2 }, devices: { interfaces: [{ name: "net", ...iface }] } },
      networks: [{ name: "net", pod: cidr === undefined ? {} : { vmNetworkCIDR: cidr } }],
    },
  };
}

function plan(iface: Partial<Interface>, cidr?: string): InterfacePlan {
  const vmi = vmiOf(iface, cidr);
  return planInterface(vmi, { name: "net", ...iface }, { pod, launcher: { uid: 107, gid: 107 } });
}

const commandsOf = ({ change }: InterfacePlan): string[] => change.commands.trimEnd().split("\n");
const rulesOf = ({ change }: InterfacePlan): string[] => change.rules.split("\n").map((line) => line.trim());

describe("masquerade", () => {
  it("puts the guest behind a bridge of the pod", () => {
    const planned = plan({ masquerade: {} });
    expect(commandsOf(planned)).toEqual([
      "link add k6t-eth0 address 02:00:00:00:00:00 type bridge",
      "tuntap add dev tap0 mode tap user 107 group 107",
      "link set tap0 mtu 1450 master k6t-eth0 up",
      "addr add 10.0.2.1/24 dev k6t-eth0",
      "link set k6t-eth0 mtu 1450 up",
    ]);
    expect(planned.change.settings).toMatchObject({ "net/ipv4/ip_forward": "1" });
    expect(planned.prepared).toMatchObject({
      name: "net",
      tapName: "tap0",
      mtu: 1450,
      podAddresses: ["10.244.0.5"],
      podInterfaceName: "eth0",
      lease: { bridge: "k6t-eth0", serverAddress: "10.0.2.1", address: "10.0.2.2/24", gateway: "10.0.2.1", routes: [] },
    });
  });

  it("leads everything to the guest unless ports are listed", () => {
    expect(rulesOf(plan({ masquerade: {} }))).toContain('iifname "eth0" dnat to 10.0.2.2');
    const rules = rulesOf(
      plan({
        masquerade: {},
        ports: [{ port: 80 }, { port: 53, protocol: "UDP" }],
        portRanges: [{ start: 8000, end: 8010, protocol: "TCP" }],
      }),
    );
    expect(rules.filter((rule) => rule.startsWith('iifname "eth0"'))).toEqual([
      'iifname "eth0" tcp dport 80 dnat to 10.0.2.2',
      'iifname "eth0" udp dport 53 dnat to 10.0.2.2',
      'iifname "eth0" tcp dport 8000-8010 dnat to 10.0.2.2',
    ]);
    expect(rules).toContain("ip daddr 127.0.0.1 tcp dport 80 dnat to 10.0.2.2");
  });

  it("keeps the guest away from the pod's loopback", () => {
    expect(rulesOf(plan({ masquerade: {} }))).toContain('iifname "k6t-eth0" ip daddr 127.0.0.0/8 drop');
  });

  it("takes the range that the network names", () => {
    const planned = plan({ masquerade: {} }, "172.20.8.0/22");
    expect(commandsOf(planned)).toContain("addr add 172.20.8.1/22 dev k6t-eth0");
    expect(rulesOf(planned)).toContain('oifname "eth0" ip saddr 172.20.8.2 masquerade');
  });

  it.each<[string, Partial<Interface>]>([
    ["a protocol that is none", { ports: [{ port: 80, protocol: "tcp dport 1 accept\n flush ruleset" }] }],
    ["a port that is none", { ports: [{ port: 70_000 }] }],
    ["a range that ends nowhere", { portRanges: [{ start: 1, end: 1e9, protocol: "TCP" }] }],
  ])("refuses %s", (_what, iface) => {
    expect(() => plan({ masquerade: {}, ...iface })).toThrow(/forward ports of interface net/);
  });
});

describe("bridge", () => {
  it("gives the guest the pod's place, hardware address and addresses", () => {
    const planned = plan({ bridge: {} });
    expect(commandsOf(planned)).toEqual([
      "link set eth0 down",
      "link set eth0 name eth0-nic",
      "addr flush dev eth0-nic",
      expect.stringMatching(/^link set eth0-nic address 02(:[0-9a-f]{2}){5}$/),
      "link add k6t-eth0 address 02:00:00:00:00:00 type bridge",
      "link set eth0-nic master k6t-eth0 up",
      "tuntap add dev tap0 mode tap user 107 group 107",
      "link set tap0 mtu 1450 master k6t-eth0 up",
      "addr add 169.254.75.10/32 dev k6t-eth0",
      "link set k6t-eth0 mtu 1450 up",
      "link add eth0 type bridge",
      "addr add 10.244.0.5/24 dev eth0",
    ]);
    expect(planned.change.settings).toMatchObject({ "net/ipv4/conf/all/arp_ignore": "1" });
    expect(planned.prepared).toMatchObject({
      macAddress: "0a:58:0a:f4:00:05",
      podAddresses: ["10.244.0.5"],
      lease: {
        serverAddress: "169.254.75.10",
        address: "10.244.0.5/24",
        gateway: "10.244.0.1",
        routes: [{ destination: "10.244.0.0/16", gateway: "10.244.0.1" }],
      },
    });
  });
});

describe("passt", () => {
  it("changes nothing but the ports that the launcher may listen on", () => {
    expect(plan({ passtBinding: {} })).toEqual({
      change: { commands: "", settings: { "net/ipv4/ip_unprivileged_port_start": "0" }, rules: "" },
      prepared: {
        name: "net",
        mtu: 1450,
        macAddress: expect.stringMatching(/^02:/),
        podAddresses: ["10.244.0.5"],
        podInterfaceName: "eth0",
      },
    });
  });
});

describe("both", () => {
  it("use the hardware address that is asked for, and otherwise the same one at every start", () => {
    expect(plan({ masquerade: {}, macAddress: "DE-AD-00-00-BE-AF" }).prepared.macAddress).toBe("de:ad:00:00:be:af");
    expect(plan({ bridge: {}, macAddress: "de:ad:00:00:be:af" }).prepared.macAddress).toBe("de:ad:00:00:be:af");
    expect(plan({ masquerade: {} }).prepared.macAddress).toMatch(/^02(:[0-9a-f]{2}){5}$/);
    expect(plan({ masquerade: {} }).prepared.macAddress).toBe(plan({ masquerade: {} }).prepared.macAddress);
  });

  it("make a tap device with queues for a card that has them", () => {
    const vmi = vmiOf({ masquerade: {} });
    const many = {
      ...vmi,
      spec: { ...vmi.spec, domain: { ...vmi.spec.domain, devices: { networkInterfaceMultiqueue: true } } },
    };
    const planned = (model: string) =>
      commandsOf(planInterface(many, { name: "net", masquerade: {}, model }, { pod, launcher: { uid: 0, gid: 0 } }));
    expect(planned("virtio")).toContain("tuntap add dev tap0 mode tap user 0 group 0 multi_queue");
    expect(planned("e1000")).toContain("tuntap add dev tap0 mode tap user 0 group 0");
  });
});

describe("podInterface", () => {
  it.each<[string, Partial<Interface>, boolean]>([
    ["masquerade", { masquerade: {} }, true],
    ["bridge", { bridge: {} }, true],
    ["one whose link is down", { bridge: {}, state: "down" }, true],
    ["one that is being removed", { bridge: {}, state: "absent" }, false],
    ["passt", { passtBinding: {} }, true],
    ["SR-IOV", { sriov: {} }, false],
  ])("%s: %s", (_what, iface, found) => {
    expect(podInterface(vmiOf(iface)) !== undefined).toBe(found);
  });

  it("leaves interfaces of other networks alone", () => {
    const vmi = vmiOf({ bridge: {} });
    expect(
      podInterface({ ...vmi, spec: { ...vmi.spec, networks: [{ name: "net", multus: { networkName: "n" } }] } }),
    ).toBeUndefined();
  });
});

describe("undoCommands", () => {
  it.each<[string, string[], string]>([
    ["nothing", ["lo", "eth0"], ""],
    ["masquerade", ["lo", "eth0", "k6t-eth0", "tap0"], "link del k6t-eth0\nlink del tap0\n"],
    ["half a bridge", ["lo", "eth0-nic"], "link set eth0-nic down\nlink set eth0-nic name eth0\n"],
    [
      "a bridge",
      ["lo", "eth0", "eth0-nic", "k6t-eth0", "tap0"],
      "link del k6t-eth0\nlink del tap0\nlink del eth0\nlink set eth0-nic down\nlink set eth0-nic name eth0\n",
    ],
  ])("takes back %s", (_what, present, commands) => {
    expect(undoCommands(pod, present)).toBe(commands);
  });
});
