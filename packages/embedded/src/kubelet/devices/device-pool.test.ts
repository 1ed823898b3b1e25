import { describe, expect, it } from "vitest";
import { chooseDevices, DevicePool, grantsFromJson, type DeviceGrant } from "./device-pool.ts";

const resource = "example.com/dev";
const devices = (...ids: string[]) => ids.map((id) => ({ id: id.replace("!", ""), healthy: !id.endsWith("!") }));
const grant = (...deviceIds: string[]): DeviceGrant => ({
  resource,
  deviceIds,
  environment: {},
  annotations: {},
  mounts: [],
  devices: [],
});

describe("DevicePool", () => {
  it("counts all devices, and gives away healthy ones that nobody has", () => {
    const pool = new DevicePool();
    pool.setDevices(resource, devices("a", "b", "c!"));
    pool.give("pod", "main", grant("a"));
    expect(pool.amounts().get(resource)).toEqual({ capacity: 3, allocatable: 2 });
    expect(pool.free(resource)).toEqual(["b"]);
    pool.setDevices(resource, devices("a", "b!", "c"));
    expect(pool.free(resource)).toEqual(["c"]);
    expect(pool.takeBack("pod")).toBe(true);
    expect(pool.takeBack("pod")).toBe(false);
    expect(pool.free(resource)).toEqual(["a", "c"]);
  });

  it("gives nothing away while the plug-in is gone, and forgets it later", () => {
    const pool = new DevicePool();
    pool.setDevices(resource, devices("a"));
    pool.disconnect(resource);
    expect(pool.amounts().get(resource)).toEqual({ capacity: 1, allocatable: 0 });
    expect(pool.free(resource)).toEqual([]);
    pool.forget(resource);
    expect(pool.amounts().get(resource)).toEqual({ capacity: 0, allocatable: 0 });
  });

  it("remembers who has what over a restart", () => {
    const before = new DevicePool();
    before.give("pod", "main", grant("a"));
    const after = new DevicePool(grantsFromJson(JSON.stringify(before.toJson())));
    after.setDevices(resource, devices("a", "b"));
    expect(after.free(resource)).toEqual(["b"]);
    expect(after.grantsOf("pod", "main")).toEqual([grant("a")]);
    expect(after.grantsOf("pod", "other")).toEqual([]);
    expect(grantsFromJson("nonsense").size).toBe(0);
  });
});

describe("chooseDevices", () => {
  it.each([
    [1, ["a", "b"], [], ["a"]],
    [1, ["a", "b"], ["b"], ["b"]],
    [2, ["a", "b", "c"], ["c"], ["c", "a"]],
    [1, ["a"], ["taken"], ["a"]],
    [1, ["a", "b"], ["b", "b", "a"], ["b"]],
    [2, ["a"], ["a"], undefined],
    [0, [], [], []],
  ])("%d of %j, rather %j", (count, free, preferred, expected) => {
    expect(chooseDevices(count, free, preferred)).toEqual(expected);
  });
});
