import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCpuGroup, moveThreads } from "./cpu-group.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pv-cgroup-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const versionOne = "5:cpuset:/kubepods/pod1/c1\n4:memory:/kubepods/pod1/c1\n1:name=systemd:/x\n0::/unified\n";
const versionTwo = "0::/kubepods.slice/pod1/c1\n";

/** `0-2,5` as `0,1,2,5`. */
const everyCpu = (list: string): string =>
  list
    .split(",")
    .flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    })
    .join(",");

describe("findCpuGroup", () => {
  it.each([
    [versionOne, "cpuset/kubepods/pod1/c1", 1],
    [versionTwo, "kubepods.slice/pod1/c1", 2],
  ])("finds it in either version", (membership, path, version) => {
    expect(findCpuGroup({ root, membership })).toEqual({ directory: join(root, path), version, isTop: false });
  });

  it("does not follow a path out of what is visible", () => {
    expect(() => findCpuGroup({ root, membership: "0::/../other/pod\n" })).toThrow(/outside of what is visible/);
  });
});

describe("moveThreads", () => {
  const read = (path: string) => readFileSync(join(root, path), "utf8");

  it("makes a group below the process's own (version 1)", () => {
    const directory = "cpuset/kubepods/pod1/c1";
    mkdirSync(join(root, directory), { recursive: true });
    writeFileSync(join(root, directory, "cpuset.mems"), "0-1\n");
    moveThreads({ root, membership: versionOne }, "housekeeping", "6,7", [11, 12]);
    expect(read(`${directory}/housekeeping/cpuset.mems`)).toBe("0-1");
    expect(read(`${directory}/housekeeping/cpuset.cpus`)).toBe("6,7");
    expect(read(`${directory}/housekeeping/tasks`)).toBe("11\n12\n");
  });

  it("makes one for threads (version 2)", () => {
    const directory = "kubepods.slice/pod1/c1";
    mkdirSync(join(root, directory), { recursive: true });
    moveThreads({ root, membership: versionTwo }, "housekeeping", "6", [11]);
    expect(read(`${directory}/housekeeping/cgroup.type`)).toBe("threaded");
    expect(read(`${directory}/cgroup.subtree_control`)).toBe("+cpuset");
    expect(read(`${directory}/housekeeping/cgroup.threads`)).toBe("11\n");
  });

  it("makes no group at the top, where nobody would remove it", () => {
    const allowed = (): string =>
      /^Cpus_allowed_list:\s+(.*)$/m.exec(readFileSync("/proc/thread-self/status", "utf8"))?.[1] ?? "";
    const before = allowed();
    const [first] = before.split(/[-,]/);
    mkdirSync(join(root, "cpuset"));
    moveThreads({ root, membership: "5:cpuset:/\n" }, "housekeeping", first ?? "", [process.pid]);
    const kept = allowed();
    moveThreads({ root, membership: "5:cpuset:/\n" }, "housekeeping", everyCpu(before), [process.pid]);
    expect({ kept, after: allowed(), groups: readdirSync(join(root, "cpuset")) }).toEqual({
      kept: first,
      after: before,
      groups: [],
    });
  });

  it("says what it could not do, and where", () => {
    const place = { root, membership: versionOne };
    expect(() => moveThreads(place, "housekeeping", "6", [])).toThrow(/move threads to CPUs 6 in .*housekeeping/);
    expect(() => moveThreads({ root, membership: "" }, "housekeeping", "6", [])).toThrow(/no control groups/);
  });
});
