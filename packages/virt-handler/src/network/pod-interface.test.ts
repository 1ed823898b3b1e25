import { describe, expect, it } from "vitest";
import { readPodInterface } from "./pod-interface.ts";

const eth0 = {
  ifname: "eth0",
  mtu: 1450,
  address: "0a:58:0a:f4:00:05",
  addr_info: [
    { family: "inet", local: "10.244.0.5", prefixlen: 24, scope: "global" },
    { family: "inet6", local: "fd10::5", prefixlen: 64, scope: "global" },
    { family: "inet6", local: "fe80::1", prefixlen: 64, scope: "link" },
  ],
};

describe("readPodInterface", () => {
  it("reads addresses, the gateway and routes that lead to one", () => {
    const routes = [
      { dst: "default", gateway: "10.244.0.1", dev: "eth0" },
      { dst: "10.244.0.0/16", gateway: "10.244.0.1", dev: "eth0" },
      { dst: "10.244.0.0/24", dev: "eth0" },
      { dst: "172.16.0.0/12", gateway: "10.9.9.9", dev: "net1" },
    ];
    expect(readPodInterface([{ ifname: "lo" }, eth0], routes)).toEqual({
      name: "eth0",
      mac: "0a:58:0a:f4:00:05",
      mtu: 1450,
      addresses: ["10.244.0.5/24", "fd10::5/64"],
      gateway: "10.244.0.1",
      routes: [{ destination: "10.244.0.0/16", gateway: "10.244.0.1" }],
    });
  });

  it("says when a pod has no interface", () => {
    expect(() => readPodInterface([{ ifname: "lo" }], [])).toThrow(/no interface eth0/);
    expect(() => readPodInterface("nonsense", null)).toThrow(/no interface eth0/);
  });
});
