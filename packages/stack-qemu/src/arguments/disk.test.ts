import { describe, expect, it } from "vitest";
import type { Domain } from "@polyvirt/domain";
import { testHost } from "../testing/machine-host.ts";
import { buildArguments } from "./build-arguments.ts";

type Disk = NonNullable<NonNullable<Domain["devices"]>["disks"]>[number];

function build(disk: Disk) {
  const definition: Domain = {
    type: "qemu",
    name: "vm",
    memory: { value: 64, unit: "MiB" },
    os: { type: { value: "hvm", arch: "x86_64", machine: "q35" } },
    devices: { disks: [disk] },
  };
  const { args } = buildArguments(definition, testHost);
  const read = (option: string): Record<string, unknown>[] =>
    args.flatMap((arg, index) => (args[index - 1] === option ? [JSON.parse(arg)] : []));
  return { nodes: read("-blockdev"), device: read("-device").at(-1) ?? {} };
}

const overlay: Disk = {
  type: "file",
  device: "disk",
  driver: { name: "qemu", type: "qcow2", cache: "none" },
  source: { file: "/overlay,a.qcow2" },
  target: { dev: "vda", bus: "virtio" },
  backingStore: { type: "file", format: { type: "raw" }, source: { file: "/base.img" } },
};

describe("disk", () => {
  it("names every image of the chain, with its format, and ends the chain", () => {
    const { nodes, device } = build(overlay);
    expect(nodes.map((node) => [node["driver"], node["node-name"], node["read-only"]])).toEqual([
      ["file", "disk0-1-storage", true],
      ["raw", "disk0-1-format", true],
      ["file", "disk0-storage", false],
      ["qcow2", "disk0-format", false],
    ]);
    expect(nodes[2]).toMatchObject({ filename: "/overlay,a.qcow2", cache: { direct: true } });
    expect(nodes[3]).toMatchObject({ file: "disk0-storage", backing: "disk0-1-format" });
    expect(device).toMatchObject({ driver: "virtio-blk-pci", drive: "disk0-format", "write-cache": "on" });
  });

  it("lets no qcow2 image choose its own backing file", () => {
    const { backingStore: _, ...alone } = overlay;
    expect(build(alone).nodes.at(-1)).toMatchObject({ driver: "qcow2", backing: null });
  });

  it.each<[string, Disk, object]>([
    [
      "virtio",
      { ...overlay, serial: "S1", boot: { order: 1 }, alias: { name: "ua-x" } },
      { driver: "virtio-blk-pci", id: "ua-x", serial: "S1", bootindex: 1 },
    ],
    [
      "its own thread",
      { ...overlay, driver: { ...overlay.driver, iothread: 1, queues: 4 } },
      { iothread: "iothread1", "num-queues": 4 },
    ],
    [
      "scsi without a named controller",
      { ...overlay, target: { dev: "sdb", bus: "scsi" } },
      { driver: "scsi-hd", bus: "scsi0.0", "scsi-id": 1 },
    ],
    ["sata", { ...overlay, target: { dev: "sdc", bus: "sata" } }, { driver: "ide-hd", bus: "ide.2" }],
    ["write-through", { ...overlay, driver: { ...overlay.driver, cache: "writethrough" } }, { "write-cache": "off" }],
    [
      "stop on errors",
      { ...overlay, driver: { ...overlay.driver, errorPolicy: "stop" } },
      { werror: "stop", rerror: "stop" },
    ],
    [
      "stop when full",
      { ...overlay, driver: { ...overlay.driver, errorPolicy: "enospace" } },
      { werror: "enospc", rerror: "report" },
    ],
    ["shared", { ...overlay, shareable: {} }, { "share-rw": true }],
    [
      "block sizes",
      { ...overlay, blockio: { logicalBlockSize: 512, physicalBlockSize: 4096 } },
      { logical_block_size: 512, physical_block_size: 4096 },
    ],
  ])("%s", (_name, disk, expected) => {
    expect(build(disk).device).toMatchObject(expected);
  });

  it("is read-only as a CD-ROM, and may be empty then", () => {
    const cdrom: Disk = { ...overlay, device: "cdrom", target: { dev: "sda", bus: "sata" } };
    expect(build(cdrom).nodes.every((node) => node["read-only"] === true)).toBe(true);
    const empty = build({ device: "cdrom", target: { dev: "sda", bus: "sata" } });
    expect(empty.nodes).toEqual([]);
    expect(empty.device).toEqual({ driver: "ide-cd", id: "sata-disk-sda", bus: "ide.0" });
  });

  it("is a host device when it is a block device", () => {
    const block = build({
      type: "block",
      source: { dev: "/dev/x" },
      driver: { type: "raw" },
      target: { dev: "vda", bus: "virtio" },
    });
    expect(block.nodes[0]).toMatchObject({ driver: "host_device", filename: "/dev/x" });
  });
});
