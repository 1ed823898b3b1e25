import { describe, expect, it } from "vitest";
import type { Domain } from "@polyvirt/domain";
import { testHost } from "../testing/machine-host.ts";
import { buildArguments } from "./build-arguments.ts";

type Devices = NonNullable<Domain["devices"]>;

const base: Domain = {
  type: "qemu",
  name: "ns_vm",
  memory: { value: 64, unit: "MiB" },
  os: { type: { value: "hvm", arch: "x86_64", machine: "q35" } },
  features: { acpi: {} },
  devices: {},
};

function args(part: Partial<Domain>): readonly string[] {
  return buildArguments({ ...base, ...part }, testHost).args;
}

/** Values of one option, JSON ones read. */
function values(option: string, part: Partial<Domain>): unknown[] {
  const all = args(part);
  return all.flatMap((arg, index) => {
    if (all[index - 1] !== option) return [];
    return [arg.startsWith("{") ? JSON.parse(arg) : arg];
  });
}

const device = (devices: Devices): unknown[] => values("-device", { devices });

describe("buildArguments", () => {
  it("gives a guest nothing of the host that it does not name", () => {
    const all = args({});
    expect(all).toContain("-nodefaults");
    expect(all).toContain("-no-user-config");
    expect(values("-sandbox", {})).toEqual([expect.stringContaining("spawn=deny")]);
    expect(values("-machine", {})).toEqual(["q35,dump-guest-core=off,usb=off"]);
    expect(values("-display", {})).toEqual(["none"]);
  });

  it.each<[string, string, Partial<Domain>, unknown[]]>([
    ["accelerator by type", "-accel", { type: "kvm" }, ["kvm"]],
    ["accelerator of emulation", "-accel", {}, ["tcg,tb-size=128"]],
    [
      "translation cache",
      "-accel",
      { features: { acpi: {}, tcg: { tbCache: { value: 64, unit: "MiB" } } } },
      ["tcg,tb-size=64"],
    ],
    ["memory", "-m", { memory: { value: 1, unit: "GiB" } }, ["size=1048576k"]],
    ["memory without unit", "-m", { memory: { value: 2048 } }, ["size=2048k"]],
    [
      "memory that can grow",
      "-m",
      { maxMemory: { value: 1, unit: "GiB", slots: 2 } },
      ["size=65536k,slots=2,maxmem=1048576k"],
    ],
    ["one CPU", "-smp", {}, ["cpus=1,maxcpus=1,sockets=1,cores=1,threads=1"]],
    [
      "CPUs that can be added",
      "-smp",
      { vcpu: { value: 4, current: 1 }, cpu: { topology: { sockets: 4, cores: 1, threads: 1 } } },
      ["cpus=1,maxcpus=4,sockets=4,cores=1,threads=1"],
    ],
    [
      "CPU model",
      "-cpu",
      { cpu: { mode: "custom", model: { value: "Haswell" }, features: [{ name: "vmx", policy: "disable" }] } },
      ["Haswell,vmx=off"],
    ],
    ["host CPU, emulated", "-cpu", { cpu: { mode: "host-passthrough" } }, ["max"]],
    ["host CPU", "-cpu", { type: "kvm", cpu: { mode: "host-passthrough" } }, ["host"]],
    ["kernel arguments", "-append", { os: { ...base.os, kernel: "/k", cmdline: "a=b,c -x" } }, ["a=b,c -x"]],
    ["no ACPI", "-machine", { features: {} }, ["q35,dump-guest-core=off,acpi=off,usb=off"]],
    ["end on reboot", "-action", { onReboot: "destroy" }, ["reboot=shutdown", "panic=shutdown"]],
    ["names with commas", "-name", { name: "a,b" }, ["guest=a,,b,debug-threads=on"]],
    [
      "SMBIOS with commas",
      "-smbios",
      {
        os: { ...base.os, smbios: { mode: "sysinfo" } },
        sysinfos: [
          { type: "smbios", system: { entries: [{ name: "manufacturer", value: "A, Inc.,file=/etc/passwd" }] } },
        ],
      },
      ["type=1,manufacturer=A,, Inc.,,file=/etc/passwd"],
    ],
    [
      "I/O threads",
      "-object",
      { iothreads: 2 },
      [
        { "qom-type": "iothread", id: "iothread1" },
        { "qom-type": "iothread", id: "iothread2" },
      ],
    ],
    [
      "huge pages",
      "-object",
      { memoryBacking: { hugepages: { pages: [{ size: 2048, unit: "KiB" }] } } },
      [
        {
          "qom-type": "memory-backend-memfd",
          id: "pc.ram",
          size: 67_108_864,
          share: false,
          prealloc: true,
          hugetlb: true,
          hugetlbsize: 2_097_152,
        },
      ],
    ],
    [
      "NUMA cells",
      "-numa",
      { cpu: { numa: { cells: [{ id: 0, cpus: "0,2-3", memory: 64, unit: "MiB" }] } } },
      ["node,nodeid=0,cpus=0,cpus=2-3,memdev=ram-node0"],
    ],
    ["arguments word for word", "-x", { qemuCommandline: { args: [{ value: "-x" }, { value: "y" }] } }, ["y"]],
  ])("%s", (_name, option, part, expected) => {
    expect(values(option, part)).toEqual(expected);
  });

  it.each<[string, Devices, unknown]>([
    [
      "serial port",
      { serials: [{ type: "unix", sources: [{ mode: "bind", path: "/s" }] }] },
      { driver: "isa-serial", id: "serial0", chardev: "charserial0", index: 0 },
    ],
    [
      "random numbers",
      { rngs: [{ model: "virtio", backend: { model: "random" } }] },
      { driver: "virtio-rng-pci", id: "rng0", rng: "objrng0" },
    ],
    [
      "balloon",
      { memballoon: { model: "virtio", freePageReporting: "on" } },
      { driver: "virtio-balloon-pci", id: "balloon0", "free-page-reporting": true },
    ],
    ["display", { videos: [{ model: { type: "vga", vram: 16_384 } }] }, { driver: "VGA", id: "video0", vgamem_mb: 16 }],
    [
      "tablet",
      { controllers: [{ type: "usb", index: 0, model: "qemu-xhci" }], inputs: [{ type: "tablet", bus: "usb" }] },
      { driver: "usb-tablet", id: "input0", bus: "usb.0" },
    ],
    [
      "card without ROM",
      {
        interfaces: [
          {
            type: "user",
            model: { type: "virtio-non-transitional" },
            mac: { address: "52:54:00:00:00:01" },
            rom: { enabled: "no" },
            alias: { name: "ua-net" },
          },
        ],
      },
      {
        driver: "virtio-net-pci-non-transitional",
        id: "ua-net",
        netdev: "hostua-net",
        mac: "52:54:00:00:00:01",
        romfile: "",
      },
    ],
    [
      "device at an address",
      {
        controllers: [{ type: "pci", index: 1, model: "pci-bridge" }],
        rngs: [
          {
            model: "virtio",
            backend: { model: "random" },
            address: { type: "pci", bus: 1, slot: "0x1f", function: 2 },
          },
        ],
      },
      { driver: "virtio-rng-pci", id: "rng0", rng: "objrng0", bus: "pci.1", addr: "0x1f.0x2" },
    ],
    [
      "agent channel",
      {
        channels: [
          { type: "unix", sources: [{ path: "/a" }], target: { type: "virtio", name: "org.qemu.guest_agent.0" } },
        ],
      },
      {
        driver: "virtserialport",
        id: "channel0",
        bus: "virtio-serial0.0",
        nr: 1,
        chardev: "charchannel0",
        name: "org.qemu.guest_agent.0",
      },
    ],
  ])("%s", (_name, devices, expected) => {
    expect(device(devices)).toContainEqual(expected);
  });

  it("names devices after the bus of the guest's architecture", () => {
    const os = { type: { value: "hvm", arch: "s390x", machine: "s390-ccw-virtio" } } as const;
    const devices: Devices = { rngs: [{ model: "virtio-non-transitional", backend: { model: "random" } }] };
    expect(values("-device", { os, devices })).toEqual([{ driver: "virtio-rng-ccw", id: "rng0", rng: "objrng0" }]);
    expect(buildArguments({ ...base, os, devices }, testHost).emulator).toBe("/usr/bin/qemu-system-s390x");
  });

  it("lets passt make connections of the pod out of the guest's", () => {
    const portForwards = [
      { proto: "tcp", ranges: [{ start: 80 }, { start: 8000, end: 8010 }] },
      { proto: "udp", address: "127.64.0.9", ranges: [{ start: 53 }] },
    ];
    const interfaces = [{ type: "user", backend: { type: "passt" }, portForwards }];
    const { args, companions, needs } = buildArguments({ ...base, devices: { interfaces } }, testHost);
    const socket = `${testHost.stateDirectory}/passt-hostnet0.sock`;
    expect(args).toContain(
      JSON.stringify({ type: "stream", id: "hostnet0", server: false, addr: { type: "unix", path: socket } }),
    );
    expect(companions.map(({ args: given }) => given.join(" "))).toEqual([
      `--foreground --one-off --socket ${socket} --tcp-ports 80,8000-8010 --udp-ports 127.64.0.9/53`,
    ]);
    expect(needs).toMatchObject([{ path: "/usr/bin/passt" }]);
  });

  it.each<[string, object, string]>([
    ["nothing", [], "--tcp-ports none --udp-ports none"],
    ["everything", [{ proto: "tcp" }, { proto: "udp" }], "--tcp-ports all --udp-ports all"],
  ])("lets passt forward %s", (_what, portForwards, expected) => {
    const interfaces = [{ type: "user", backend: { type: "passt" }, portForwards }] as Devices["interfaces"];
    const [passt] = buildArguments({ ...base, devices: { interfaces } }, testHost).companions;
    expect(passt?.args.join(" ")).toContain(expected);
  });

  it("forwards ports of the pod into the guest", () => {
    const forward = { proto: "tcp", address: "127.64.0.9", ranges: [{ start: 8080, to: 80 }] };
    expect(values("-netdev", { devices: { interfaces: [{ type: "user", portForwards: [forward] }] } })).toEqual([
      { type: "user", id: "hostnet0", hostfwd: [{ str: "tcp:127.64.0.9:8080-:80" }] },
    ]);
  });
});

describe("buildArguments refuses, by path,", () => {
  it.each<[string, Partial<Domain>]>([
    ["blkiotune", { blkiotune: { weight: 10 } }],
    ["devices.shmems", { devices: { shmems: [{ name: "x" }] } }],
    [
      "devices.disks[0].throttlefilters",
      { devices: { disks: [{ source: { file: "/d" }, target: { dev: "vda" }, throttlefilters: {} }] } },
    ],
    ["devices.disks[0].source", { devices: { disks: [{ target: { dev: "vda" } }] } }],
    [
      "devices.disks[0].alias",
      {
        devices: {
          disks: [{ source: { file: "/d" }, driver: { type: "raw" }, target: { dev: "vda" }, alias: { name: "a,b" } }],
        },
      },
    ],
    ["os.type.arch", { os: { type: { value: "hvm", arch: "ppc64" } } }],
    ["os.type.machine", { os: { type: { value: "hvm", machine: "q35,accel=kvm" } } }],
    ["features.hyperv", { features: { acpi: {}, hyperv: { relaxed: { state: "on" } } } }],
    ["cpu.model", { cpu: { model: { value: "host,migratable=off" } } }],
    ["cpu.topology", { vcpu: { value: 3 }, cpu: { topology: { sockets: 2, cores: 1, threads: 1 } } }],
    ["devices.emulator", { devices: { emulator: "sh -c" } }],
    [
      "devices.serials[0].sources[0].path",
      { devices: { serials: [{ type: "unix", sources: [{ path: `/${"x".repeat(120)}` }] }] } },
    ],
    [
      "devices.inputs[0].bus",
      { devices: { controllers: [{ type: "usb", model: "none" }], inputs: [{ type: "tablet", bus: "usb" }] } },
    ],
    ["devices.$elements", { devices: { $elements: [] } }],
    ["memory.unit", { memory: { value: 1, unit: "parsec" } }],
  ])("%s", (path, part) => {
    expect(() => args(part)).toThrowError(
      expect.objectContaining({ code: "StackDefinitionRefused", message: expect.stringContaining(path) }),
    );
  });

  it("everything at once", () => {
    expect(() => args({ blkiotune: { weight: 1 }, perf: { events: [] } })).toThrow(/blkiotune, perf/);
  });

  it("two devices with one id", () => {
    const disk = { source: { file: "/d" }, driver: { type: "raw" }, alias: { name: "ua-a" } };
    const disks = [
      { ...disk, target: { dev: "vda" } },
      { ...disk, target: { dev: "vdb" } },
    ];
    expect(() => args({ devices: { disks } })).toThrow("another device has the id ua-a");
  });
});
