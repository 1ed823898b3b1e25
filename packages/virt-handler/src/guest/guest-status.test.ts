import { getCondition, type VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { vmiWith } from "../testing/objects.ts";
import { noGuestInfo, readGuestInfo } from "./guest-info.ts";
import { withGuestInfo } from "./guest-status.ts";

const NOW = new Date("2026-01-01T12:00:00Z");
const connected = { connected: true, supported: true };
const tell = (info: unknown) => readGuestInfo(JSON.stringify(info), connected);

describe("readGuestInfo", () => {
  it("takes what has the right type and leaves the rest", () => {
    const info = tell({
      os: { id: "debian", name: 7, prettyName: "Debian\u001b[31m 12", evil: "x" },
      interfaces: [
        { name: "eth0", macAddress: "02:00:00:00:00:01", ipAddresses: ["10.0.2.2", "not an address", 5, "fe80::1"] },
        { name: "lo", ipAddresses: ["127.0.0.1"] },
        { name: "eth1", macAddress: "nonsense" },
        "nonsense",
      ],
    });
    expect(info.os).toMatchObject({ id: "debian", name: "", prettyName: "Debian[31m 12" });
    expect(info.os).not.toHaveProperty("evil");
    expect(info.interfaces).toEqual([
      { name: "eth0", mac: "02:00:00:00:00:01", addresses: ["10.0.2.2", "fe80::1"] },
      { name: "eth1", mac: undefined, addresses: [] },
    ]);
  });

  it("cuts what is too much", () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({
      name: `e${index}${"x".repeat(1000)}`,
      ipAddresses: Array.from({ length: 100 }, () => "10.0.0.1"),
    }));
    const { interfaces } = tell({ interfaces: many.slice(0, 100) });
    expect(interfaces).toHaveLength(64);
    expect(interfaces[0]?.name).toHaveLength(256);
    expect(interfaces[0]?.addresses).toHaveLength(32);
    expect(tell({ interfaces: many }).interfaces).toEqual([]);
  });

  it.each(["", "null", "[]", "{", '"text"'])("survives %j", (json) => {
    expect(readGuestInfo(json, connected)).toEqual({ ...noGuestInfo, ...connected });
  });
});

function guest(interfaces: NonNullable<VirtualMachineInstance["status"]>["interfaces"] = []): VirtualMachineInstance {
  const vmi = vmiWith({ phase: "Running", interfaces });
  return {
    ...vmi,
    spec: {
      domain: {
        devices: {
          interfaces: [
            { name: "default", bridge: {} },
            { name: "hidden", masquerade: {} },
          ],
        },
      },
    },
  };
}

const podSide = { name: "default", mac: "02:00:00:00:00:01", ipAddress: "10.244.0.5", infoSource: "domain" };

describe("withGuestInfo", () => {
  it("shows the guest's system and that its agent answers", () => {
    const status = withGuestInfo(guest(), tell({ os: { id: "debian" }, fsFreezeStatus: "frozen" }), NOW);
    expect(status.guestOSInfo?.id).toBe("debian");
    expect(status.fsFreezeStatus).toBe("frozen");
    expect(getCondition(status, "AgentConnected")).toMatchObject({ status: "True" });
  });

  it("takes all that back when the agent is gone", () => {
    const before = withGuestInfo(guest([podSide]), tell({ os: { id: "debian" }, interfaces: [{ name: "x" }] }), NOW);
    const status = withGuestInfo(vmiWith(before), noGuestInfo, NOW);
    expect(status.guestOSInfo).toBeUndefined();
    expect(getCondition(status, "AgentConnected")).toBeUndefined();
    expect(status.interfaces).toEqual([podSide]);
  });

  it("keeps what a guest said before its file systems were frozen", () => {
    const told = tell({ os: { id: "debian" }, interfaces: [{ name: "x", ipAddresses: ["10.0.0.1"] }] });
    const before = withGuestInfo(guest([podSide]), told, NOW);
    const frozen = withGuestInfo(vmiWith(before), tell({ fsFreezeStatus: "frozen" }), NOW);
    expect(frozen).toEqual({ ...before, fsFreezeStatus: "frozen" });
    expect(withGuestInfo(vmiWith(frozen), told, NOW)).toEqual(before);
  });

  it("shows whether the guest's users have their credentials, as long as nothing else is known", () => {
    const type = "AccessCredentialsSynchronized";
    const failed = withGuestInfo(
      guest(),
      tell({ accessCredentials: { succeeded: false, message: "no\u001b user" } }),
      NOW,
    );
    expect(getCondition(failed, type)).toMatchObject({ status: "False", message: "no user" });
    const done = withGuestInfo(vmiWith(failed), tell({ accessCredentials: { succeeded: true } }), NOW);
    expect(getCondition(done, type)).toMatchObject({ status: "True" });
    expect(getCondition(done, type)?.message).toBeUndefined();
    expect(getCondition(withGuestInfo(vmiWith(done), tell({}), NOW), type)).toEqual(getCondition(done, type));
    expect(getCondition(withGuestInfo(vmiWith(done), noGuestInfo, NOW), type)).toEqual(getCondition(done, type));
    expect(getCondition(withGuestInfo(guest(), tell({ accessCredentials: "yes" }), NOW), type)).toBeUndefined();
  });

  it("says when the agent is too old", () => {
    const info = { ...tell({}), supported: false };
    expect(getCondition(withGuestInfo(guest(), info, NOW), "AgentVersionNotSupported")).toMatchObject({
      status: "True",
    });
  });

  it("completes interfaces by hardware address and appends what only the guest has", () => {
    const interfaces = [
      { name: "docker0", ipAddresses: ["172.17.0.1"] },
      { name: "enp1s0", macAddress: "02:00:00:00:00:01", ipAddresses: ["10.1.2.3", "fd00::3"] },
    ];
    expect(withGuestInfo(guest([podSide]), tell({ interfaces }), NOW).interfaces).toEqual([
      {
        name: "default",
        mac: "02:00:00:00:00:01",
        interfaceName: "enp1s0",
        ipAddress: "10.244.0.5",
        ipAddresses: ["10.244.0.5", "10.1.2.3", "fd00::3"],
        infoSource: "domain, guest-agent",
      },
      { interfaceName: "docker0", ipAddress: "172.17.0.1", ipAddresses: ["172.17.0.1"], infoSource: "guest-agent" },
    ]);
  });

  it("keeps the pod's address where the guest's cannot be reached", () => {
    const hidden = { name: "hidden", ipAddress: "10.244.0.5", infoSource: "domain" };
    const { interfaces } = withGuestInfo(
      guest([hidden]),
      tell({ interfaces: [{ name: "eth0", ipAddresses: ["10.0.2.2"] }] }),
      NOW,
    );
    expect(interfaces).toMatchObject([{ name: "hidden", ipAddress: "10.244.0.5", interfaceName: "eth0" }]);
  });

  it("changes nothing when nothing has changed", () => {
    const info = tell({ os: { id: "debian" }, interfaces: [{ name: "x", ipAddresses: ["10.0.0.1"] }] });
    const first = withGuestInfo(guest([podSide]), info, NOW);
    const again = withGuestInfo(vmiWith(first), info, new Date(NOW.getTime() + 60_000));
    expect(again).toEqual({ ...first });
  });
});
