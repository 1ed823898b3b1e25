import type { Domain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { bareMachine, optionsOf } from "../testing/build-devices.ts";
import { testHost } from "../testing/machine-host.ts";
import { buildArguments } from "./build-arguments.ts";

const mebibyte = 1024 ** 2;
const cells = (...given: NonNullable<NonNullable<NonNullable<Domain["cpu"]>["numa"]>["cells"]>): Partial<Domain> => ({
  vcpu: { value: 2 },
  cpu: { numa: { cells: given } },
});

describe("memory", () => {
  it("comes in whole mebibytes, node by node", () => {
    const part = cells({ id: 0, cpus: "0", memory: 20_002 }, { id: 1, cpus: "1", memory: 20_002 });
    expect(optionsOf(part, "-m")).toEqual([`size=${2 * 20 * 1024}k`]);
    expect(optionsOf(part, "-object")).toMatchObject([{ size: 20 * mebibyte }, { size: 20 * mebibyte }]);
    expect(optionsOf({ memory: { value: 219_100 } }, "-m")).toEqual(["size=219136k"]);
  });

  it("comes from the nodes of the host that the definition names", () => {
    const numatune = { memory: { mode: "preferred", nodeset: "0-2,^1" } } as const;
    expect(optionsOf({ numatune }, "-object")).toEqual([
      {
        "qom-type": "memory-backend-ram",
        id: "pc.ram",
        "host-nodes": [0, 2],
        policy: "preferred",
        size: 64 * mebibyte,
      },
    ]);
    const own = { ...numatune, memnodes: [{ cellid: 1, mode: "strict", nodeset: "3" }] };
    const part = cells({ id: 0, memory: 1024 }, { id: 1, memory: 1024 });
    expect(optionsOf({ ...part, numatune: own }, "-object")).toMatchObject([
      { "host-nodes": [0, 2] },
      { "host-nodes": [3], policy: "bind" },
    ]);
  });

  it("has pages of the size of its node", () => {
    const hugepages = {
      pages: [
        { size: 1, unit: "G" },
        { size: 2, unit: "M", nodeset: "1" },
      ],
    };
    const part = cells({ id: 0, memory: 1024 }, { id: 1, memory: 1024 });
    expect(optionsOf({ ...part, memoryBacking: { hugepages } }, "-object")).toMatchObject([
      { hugetlbsize: 1024 * mebibyte },
      { hugetlbsize: 2 * mebibyte },
    ]);
  });

  it("is less at first where there is a balloon", () => {
    const part: Partial<Domain> = { currentMemory: { value: 32, unit: "MiB" } };
    expect(() => optionsOf(part, "-m")).toThrow("only a guest with devices.memballoon");
    const devices = { memballoon: { model: "virtio" } };
    expect(buildArguments({ ...bareMachine, ...part, devices }, testHost).afterStart).toEqual([
      { command: "balloon", args: { value: 32 * mebibyte } },
    ]);
  });

  it.each<[string, NonNullable<NonNullable<Domain["devices"]>["memorydevs"]>[number], object, object]>([
    [
      "a module",
      { model: "dimm", target: { size: { value: 16, unit: "MiB" }, node: 0 }, address: { type: "dimm", slot: 1 } },
      { "qom-type": "memory-backend-ram", id: "memdimm0", size: 16 * mebibyte },
      { driver: "pc-dimm", node: 0, memdev: "memdimm0", id: "dimm0", slot: 1 },
    ],
    [
      "a module that is kept in a file",
      { model: "nvdimm", access: "shared", source: { path: "/n" }, target: { size: { value: 16, unit: "MiB" } } },
      { "qom-type": "memory-backend-file", id: "memnvdimm0", "mem-path": "/n", share: true, size: 16 * mebibyte },
      { driver: "nvdimm", memdev: "memnvdimm0", id: "nvdimm0" },
    ],
    [
      "memory that the guest asks for",
      {
        model: "virtio-mem",
        target: {
          size: { value: 16, unit: "MiB" },
          block: { value: 2, unit: "M" },
          requested: { value: 4, unit: "M" },
        },
      },
      { "qom-type": "memory-backend-ram", id: "memvirtiomem0", reserve: false, size: 16 * mebibyte },
      {
        driver: "virtio-mem-pci",
        "block-size": 2 * mebibyte,
        "requested-size": 4 * mebibyte,
        memdev: "memvirtiomem0",
        id: "virtiomem0",
      },
    ],
  ])("sits in %s", (_name, module, object, device) => {
    const part: Partial<Domain> = { maxMemory: { value: 1, unit: "G", slots: 4 }, devices: { memorydevs: [module] } };
    expect(optionsOf(part, "-m")).toEqual([`size=${48 * 1024}k,slots=4,maxmem=${1024 * 1024}k`]);
    expect(optionsOf(part, "-object")).toContainEqual(object);
    expect(optionsOf(part, "-device")).toContainEqual(device);
  });
});
