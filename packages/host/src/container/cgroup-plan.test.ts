import { describe, expect, it } from "vitest";
import { findHierarchies, groupsAbove, planGroups, unenforcedLimits } from "./cgroup-plan.ts";

describe("findHierarchies", () => {
  const v1Mounts = [
    "30 29 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct",
    "31 29 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    "32 29 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids",
    "33 29 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
  ].join("\n");

  it.each([
    [
      "version 1, below the own group of each controller",
      "8:pids:/\n4:memory:/session/x\n1:cpu,cpuacct:/\n0::/",
      v1Mounts,
      ["pids /sys/fs/cgroup/pids", "memory /sys/fs/cgroup/memory/session/x", "cpu /sys/fs/cgroup/cpu"],
    ],
    [
      "version 2",
      "0::/user.slice/session.scope",
      "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
      [" /sys/fs/cgroup/user.slice"],
    ],
    [
      "a mount that shows only a part",
      "0::/docker/abc/inner",
      "35 24 0:30 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
      [" /sys/fs/cgroup"],
    ],
    [
      "the top of such a part",
      "0::/docker/abc",
      "35 24 0:30 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
      [" /sys/fs/cgroup"],
    ],
    ["nothing", "", "", []],
  ])("finds %s", (_name, own, mounts, expected) => {
    const found = findHierarchies(own, mounts).map(({ controller, directory }) => `${controller} ${directory}`);
    expect(found).toEqual(expected);
  });
});

describe("planGroups", () => {
  const settings = (controllers: string[], limits: object): Record<string, string> =>
    Object.assign(
      {},
      ...planGroups(
        controllers.map((controller) => ({ controller, directory: `/c/${controller}` })),
        "a/b",
        limits,
      ).map(({ settings: found }) => Object.fromEntries(found)),
    );

  it.each([
    [
      "version 1",
      ["pids", "memory", "cpu"],
      { cpuLimit: 1500, cpuRequest: 500, memoryBytes: 1024 },
      { "memory.limit_in_bytes": "1024", "cpu.shares": "512", "cpu.cfs_quota_us": "150000" },
    ],
    ["version 1 without limits", ["pids", "memory", "cpu"], {}, { "cpu.shares": "2" }],
    [
      "version 2",
      [""],
      { cpuLimit: 250, cpuRequest: 1000, memoryBytes: 1024 },
      { "cpu.weight": "40", "cpu.max": "25000 100000", "memory.max": "1024" },
    ],
    ["version 2 without limits", [""], {}, { "cpu.weight": "1" }],
    ["no tiny quota", ["cpu"], { cpuLimit: 1 }, { "cpu.shares": "2", "cpu.cfs_quota_us": "1000" }],
  ])("for %s", (_name, controllers, limits, expected) => {
    expect(settings(controllers, limits)).toEqual(expected);
  });
});

describe("version 2 hands controllers down", () => {
  it("from the place where groups may be made to the container's parent", () => {
    expect(groupsAbove("/cg/user.slice", "/cg/user.slice/polyvirt/node-1/uid/main-0")).toEqual([
      "/cg/user.slice",
      "/cg/user.slice/polyvirt",
      "/cg/user.slice/polyvirt/node-1",
      "/cg/user.slice/polyvirt/node-1/uid",
    ]);
  });
});

describe("unenforcedLimits", () => {
  it.each([
    ["nothing asked", {}, [], []],
    ["all written", { cpuLimit: 1, memoryBytes: 1 }, ["cpu.max", "memory.max"], []],
    ["no memory controller", { cpuLimit: 1, memoryBytes: 1 }, ["cpu.cfs_quota_us"], ["memory"]],
    ["no groups at all", { cpuLimit: 1, memoryBytes: 1 }, [], ["cpu", "memory"]],
  ])("%s", (_name, limits, written, expected) => {
    expect(unenforcedLimits(limits, new Set(written))).toEqual(expected);
  });
});
