import type { Domain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { optionsOf } from "../testing/build-devices.ts";

type Devices = NonNullable<Domain["devices"]>;
const older = { type: { value: "hvm", arch: "x86_64", machine: "pc" } } as const;
const image = { source: { file: "/d" }, driver: { type: "raw" } } as const;
const devicesOf = (devices: Devices, part: Partial<Domain> = {}): unknown[] =>
  optionsOf({ ...part, devices }, "-device");

describe("controllers", () => {
  it.each<[string, Devices, Partial<Domain>, object]>([
    ["USB of the older kind", { controllers: [{ type: "usb" }] }, {}, { driver: "piix3-usb-uhci", id: "usb" }],
    [
      "USB with ports",
      { controllers: [{ type: "usb", model: "nec-xhci", ports: 8 }] },
      {},
      { driver: "nec-usb-xhci", id: "usb", p2: 8, p3: 8 },
    ],
    [
      "a bridge by its own name",
      { controllers: [{ type: "pci", index: 3, model: "pci-bridge", alias: { name: "ua-b" } }] },
      {},
      { driver: "pci-bridge", id: "ua-b", chassis_nr: 3 },
    ],
    ["SCSI of no stated model", { controllers: [{ type: "scsi" }] }, {}, { driver: "lsi", id: "scsi0" }],
    [
      "SCSI of no stated model on arm64",
      { controllers: [{ type: "scsi" }] },
      { os: { type: { value: "hvm", arch: "aarch64", machine: "virt" } } },
      { driver: "virtio-scsi-pci", id: "scsi0" },
    ],
    [
      "SATA beside the machine's own",
      { controllers: [{ type: "sata", index: 1 }] },
      {},
      { driver: "ahci", id: "sata1" },
    ],
    [
      "USB for a device that needs it",
      { inputs: [{ type: "tablet" }] },
      {},
      { driver: "usb-tablet", id: "input0", bus: "usb.0" },
    ],
    [
      "IDE by the disk's name",
      { disks: [{ ...image, target: { dev: "hdd" } }] },
      { os: older },
      expect.objectContaining({ driver: "ide-hd", bus: "ide.1", unit: 1 }),
    ],
    [
      "a floppy",
      { disks: [{ ...image, device: "floppy", target: { dev: "fda" } }] },
      {},
      expect.objectContaining({ driver: "floppy", unit: 0 }),
    ],
  ])("%s", (_name, devices, part, expected) => {
    expect(devicesOf(devices, part)).toContainEqual(expected);
  });

  it("come before the devices on them, and names of buses are those of their controllers", () => {
    const address = { type: "pci", bus: 1, slot: 2 } as const;
    const devices: Devices = {
      controllers: [
        { type: "pci", index: 2, model: "pcie-to-pci-bridge", address: { type: "pci", bus: 1, slot: 0 } },
        { type: "pci", index: 1, model: "pcie-root-port", alias: { name: "ua-port" } },
      ],
      rngs: [{ model: "virtio", backend: { model: "random" }, address: { ...address, bus: 2 } }],
    };
    expect(devicesOf(devices)).toMatchObject([
      { driver: "pcie-root-port", id: "ua-port" },
      { driver: "pcie-pci-bridge", id: "pci.2", bus: "ua-port", addr: "0x0.0x0" },
      { driver: "virtio-rng-pci", bus: "pci.2", addr: "0x2.0x0" },
    ]);
  });

  it("make room first for devices that need a certain place", () => {
    const rng = { model: "virtio", backend: { model: "random" } } as const;
    const at = { type: "pci", bus: 0, slot: 1, function: 0 } as const;
    const devices: Devices = { rngs: [rng, { ...rng, address: at }, { ...rng, address: { ...at, function: 1 } }] };
    expect(devicesOf(devices)).toMatchObject([
      { id: "rng1", addr: "0x1.0x0", multifunction: true },
      { id: "rng2", addr: "0x1.0x1" },
      { id: "rng0" },
    ]);
  });

  it("are added for buses that only an address speaks of", () => {
    const rng = {
      model: "virtio",
      backend: { model: "random" },
      address: { type: "pci", bus: "0x05", slot: 0 },
    } as const;
    expect(devicesOf({ rngs: [rng] })).toMatchObject([
      { driver: "pcie-root-port", id: "pci.5" },
      { id: "rng0", bus: "pci.5" },
    ]);
    expect(() => devicesOf({ rngs: [{ ...rng, address: { ...rng.address, slot: 3 } }] })).toThrow(
      "a port has only slot 0",
    );
  });

  it("give channels the ports that they ask for, and others what is left", () => {
    const channel = { type: "null", target: { type: "virtio", name: "a" } } as const;
    const devices: Devices = {
      controllers: [{ type: "virtio-serial", index: 0, ports: 3 }],
      channels: [channel, { ...channel, address: { type: "virtio-serial", controller: "0", bus: 0, port: "1" } }],
    };
    expect(devicesOf(devices)).toMatchObject([{ max_ports: 3 }, { id: "channel0", nr: 2 }, { id: "channel1", nr: 1 }]);
    expect(() => devicesOf({ ...devices, channels: [channel, channel, channel] })).toThrow("add a controller");
  });
});

describe("what boots", () => {
  const disks: Devices["disks"] = [
    { device: "cdrom", target: { dev: "sda", bus: "sata" } },
    { ...image, target: { dev: "vdb" } },
    { ...image, target: { dev: "vda" } },
  ];
  const bootIndexes = (part: Partial<Domain>): unknown[] =>
    optionsOf({ devices: { disks }, ...part }, "-device").map((device) => {
      const { id, bootindex } = device as Record<string, unknown>;
      return [id, bootindex];
    });

  it("is the first disk by name", () => {
    expect(bootIndexes({})).toContainEqual(["virtio-disk-vda", 1]);
  });

  it("is the first of each kind that the definition lists", () => {
    const os = { type: { value: "hvm", machine: "q35" }, bootDevices: [{ dev: "cdrom" }, { dev: "hd" }] } as const;
    expect(bootIndexes({ os: { ...os, bootDevices: [...os.bootDevices] } })).toEqual([
      ["sata-disk-sda", 1],
      ["virtio-disk-vdb", undefined],
      ["virtio-disk-vda", 2],
    ]);
  });

  it("is said in one way only", () => {
    const os: Domain["os"] = { type: { value: "hvm", machine: "q35" }, bootDevices: [{ dev: "hd" }] };
    const ordered = [{ ...image, target: { dev: "vda" }, boot: { order: 1 } }];
    expect(() => optionsOf({ os, devices: { disks: ordered } }, "-device")).toThrow("has an order of its own");
  });
});
