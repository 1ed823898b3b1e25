import type { Interface, VirtualMachineInstanceNetworkInterface } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import type { PreparedInterface } from "../../network/prepared-interface.ts";
import { domainWith, vmiWith } from "../../testing/objects.ts";
import { interfacesPart } from "./interfaces.ts";

const prepared: PreparedInterface = {
  name: "net",
  tapName: "tap0",
  mtu: 1500,
  macAddress: "02:00:00:00:00:05",
  podAddresses: ["10.244.0.5"],
  podInterfaceName: "eth0",
};

function interfacesOf(
  iface: Partial<Interface>,
  known: VirtualMachineInstanceNetworkInterface[] = [],
  given: readonly PreparedInterface[] | undefined = [prepared],
  multiqueue = false,
): VirtualMachineInstanceNetworkInterface[] | undefined {
  const vmi = vmiWith({ phase: "Running", interfaces: known });
  const observed = {
    vmi: {
      ...vmi,
      spec: {
        domain: {
          cpu: { cores: 4 },
          devices: { networkInterfaceMultiqueue: multiqueue, interfaces: [{ name: "net", ...iface }] },
        },
      },
    },
    launcher: "connected" as const,
    lostReason: undefined,
    domain: domainWith("Running"),
    syncedGeneration: 1,
    prepared: given,
    shutdownSent: false,
    hostArchitecture: "amd64",
    now: new Date(0),
  };
  return interfacesPart(observed.vmi.status ?? {}, observed).interfaces;
}

const complete = {
  name: "net",
  infoSource: "domain",
  mac: "02:00:00:00:00:05",
  ipAddress: "10.244.0.5",
  ipAddresses: ["10.244.0.5"],
  podInterfaceName: "eth0",
  linkState: "up",
  queueCount: 1,
};

describe("interfacesPart", () => {
  it("tells how an interface is connected", () => {
    expect(interfacesOf({ masquerade: {} })).toEqual([complete]);
  });

  it("completes what virt-controller has noted, once", () => {
    const noted = { name: "net", ipAddress: "10.244.0.5", ipAddresses: ["10.244.0.5"], infoSource: "domain" };
    expect(interfacesOf({ masquerade: {} }, [noted])).toEqual([complete]);
    expect(interfacesOf({ masquerade: {} }, [complete])).toEqual([complete]);
  });

  it("keeps what the guest's agent has said", () => {
    const told = { ...complete, ipAddress: "10.1.1.1", infoSource: "domain, guest-agent", interfaceName: "enp1s0" };
    const only = { interfaceName: "docker0", infoSource: "guest-agent" };
    expect(interfacesOf({ bridge: {} }, [told, only])).toEqual([told, only]);
  });

  it.each<[Partial<Interface>, boolean, object]>([
    [{ state: "down" }, false, { linkState: "down", queueCount: 1 }],
    [{}, true, { linkState: "up", queueCount: 4 }],
    [{ model: "e1000" }, true, { queueCount: 1 }],
  ])("%j with queues: %s", (iface, multiqueue, expected) => {
    expect(interfacesOf({ masquerade: {}, ...iface }, [], [prepared], multiqueue)).toMatchObject([expected]);
  });

  it("says less where the pod shares its network, and nothing before anything is known", () => {
    expect(interfacesOf({ masquerade: {} }, [], [])).toEqual([
      { name: "net", infoSource: "domain", linkState: "up", queueCount: 1 },
    ]);
    expect(interfacesOf({ masquerade: {}, state: "absent" }, [])).toEqual([]);
  });
});
