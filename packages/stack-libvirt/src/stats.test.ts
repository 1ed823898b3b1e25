import { describe, expect, it } from "vitest";
import { readStats } from "./stats.ts";

describe("libvirt's counters", () => {
  const counters = new Map<string, number | string>([
    ["cpu.time", 9],
    ["balloon.current", 2_048],
    ["balloon.rss", 4],
    ["vcpu.current", 1],
    ["vcpu.maximum", 2],
    ["vcpu.0.state", 1],
    ["vcpu.0.time", 5],
    ["block.count", 2],
    ["block.0.name", "vda"],
    ["block.0.rd.bytes", 512],
    ["block.1.name", "sda"],
    ["net.count", 1],
    ["net.0.name", "tap0"],
    ["net.0.rx.bytes", 7],
  ]);
  const stats = readStats(counters, {
    devices: {
      disks: [{ target: { dev: "vda" }, alias: { name: "ua-root" } }],
      interfaces: [{ target: { dev: "tap0" }, alias: { name: "ua-net" } }, { alias: { name: "ua-user" } }],
    },
  });

  it("get the names of the definition's devices", () => {
    expect(stats.blocks).toMatchObject([
      { alias: "ua-root", target: "vda", readBytes: 512, writeBytes: 0 },
      { alias: "sda", target: "sda" },
    ]);
    expect(stats.interfaces).toEqual([{ alias: "ua-net", receivedBytes: 7 }, { alias: "ua-user" }]);
  });

  it("leave out processors that are not plugged in, and count memory in bytes", () => {
    expect(stats.vcpus).toEqual([{ index: 0, timeNanoseconds: 5 }]);
    expect(stats.memory).toEqual({ actualBytes: 2_097_152, residentBytes: 4_096 });
    expect(stats.cpuTimeNanoseconds).toBe(9);
  });
});
