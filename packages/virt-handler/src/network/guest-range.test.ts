import { describe, expect, it } from "vitest";
import { guestRange } from "./guest-range.ts";

describe("guestRange", () => {
  it.each([
    ["10.0.2.0/24", { gateway: "10.0.2.1", guest: "10.0.2.2", length: 24 }],
    ["10.0.2.77/24", { gateway: "10.0.2.1", guest: "10.0.2.2", length: 24 }],
    ["192.168.255.252/30", { gateway: "192.168.255.253", guest: "192.168.255.254", length: 30 }],
    ["172.16.0.0/12", { gateway: "172.16.0.1", guest: "172.16.0.2", length: 12 }],
  ])("%s", (cidr, range) => {
    expect(guestRange(cidr)).toEqual(range);
  });

  it.each([
    "",
    "10.0.2.0",
    "10.0.2.0/31",
    "10.0.2.0/0",
    "10.0.2/24",
    "fd00::/64",
    "10.0.2.0/24; reboot",
    "10.0.2.0/2e1",
  ])("refuses %j", (cidr) => {
    expect(() => guestRange(cidr)).toThrow(/between pod and guest/);
  });
});
