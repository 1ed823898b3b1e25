import { describe, expect, it } from "vitest";
import { attachCommands, bridgeCommands, bridgeName, firewallRules, memberName } from "./bridged-network-plan.ts";

const options = { prefix: "10.99", hostAddresses: ["10.99.0.1", "10.99.0.2"], loopbackPort: 6443 };

describe("names", () => {
  it("say which network or address they are for, and fit into an interface's name", () => {
    expect(bridgeName("10.99")).toBe("pvbr-10-99");
    expect(memberName("10.99.4.1")).toBe("pv0a630401");
    expect(bridgeName("255.255").length).toBeLessThanOrEqual(15);
    expect(memberName("255.255.255.255").length).toBeLessThanOrEqual(15);
  });
});

describe("commands", () => {
  it("make the bridge once and give it all addresses of the machine", () => {
    expect(bridgeCommands(options, false).split("\n")).toEqual([
      "link add pvbr-10-99 address 02:70:0a:63:00:01 type bridge",
      "addr replace 10.99.0.1/16 dev pvbr-10-99",
      "addr replace 10.99.0.2/32 dev pvbr-10-99",
      "link set pvbr-10-99 up",
      "",
    ]);
    expect(bridgeCommands(options, true)).not.toContain("link add");
  });

  it("connect a namespace", () => {
    expect(attachCommands("10.99", "10.99.4.1")).toEqual({
      outside:
        "netns add pv0a630401\nlink add pv0a630401 type veth peer name eth0 netns pv0a630401\n" +
        "link set pv0a630401 master pvbr-10-99 up\n",
      inside:
        "link set lo up\naddr add 10.99.4.1/16 brd + dev eth0\nlink set eth0 up\nroute add default via 10.99.0.1\n",
    });
  });
});

describe("rules", () => {
  it("close the loopback and the network before they open one port", () => {
    const rules = firewallRules(options).split("\n");
    const at = (rule: string): number => rules.findIndex((line) => line.trim() === rule);
    expect(at('iifname "pvbr-10-99" ip daddr 127.0.0.0/8 drop')).toBeGreaterThan(0);
    expect(at('iifname != { "pvbr-10-99", "lo" } ip daddr 10.99.0.0/16 drop')).toBeGreaterThan(0);
    expect(at('iifname "pvbr-10-99" ip daddr 10.99.0.1 tcp dport 6443 dnat to 127.0.0.1:6443')).toBeGreaterThan(0);
    expect(firewallRules(options)).not.toContain("masquerade");
  });

  it("let members out where there is a way", () => {
    const rules = firewallRules({ ...options, uplinks: ["eth0"] });
    expect(rules).toContain('oifname "eth0" ip saddr 10.99.0.0/16 masquerade');
    expect(rules).toContain('iifname "eth0" oifname "eth0" drop');
  });
});
