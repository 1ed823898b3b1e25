import { describe, expect, it } from "vitest";
import type { Domain } from "@polyvirt/domain";
import { testHost } from "../testing/machine-host.ts";
import { buildArguments } from "./build-arguments.ts";

/** Devices for which QEMU needs something of the node: a file, a socket, another program. */
type Devices = NonNullable<Domain["devices"]>;

const base: Domain = {
  type: "qemu",
  name: "ns_vm",
  memory: { value: 64, unit: "MiB" },
  os: { type: { value: "hvm", arch: "x86_64", machine: "q35" } },
  devices: {},
};
const usb: Devices = { controllers: [{ type: "usb", index: 0, model: "qemu-xhci" }] };

function build(devices: Devices, part: Partial<Domain> = {}) {
  const command = buildArguments({ ...base, ...part, devices }, testHost);
  const read = (option: string): unknown[] =>
    command.args.flatMap((arg, index) => {
      if (command.args[index - 1] !== option) return [];
      return [arg.startsWith("{") ? JSON.parse(arg) : arg];
    });
  return { ...command, read };
}

describe("an emulated TPM", () => {
  const tpms = (persistentState: "yes" | "no"): Devices => ({
    tpms: [{ model: "tpm-crb", backend: { type: "emulator", version: "2.0", persistentState } }],
  });

  it("has a swtpm of its own, which is ready before QEMU starts", () => {
    const { read, companions, needs } = build(tpms("no"));
    expect(companions).toMatchObject([
      { program: "/usr/bin/swtpm", directories: ["/run/state/swtpm/tpm2"], socket: "/run/state/swtpm.sock" },
    ]);
    expect(needs).toMatchObject([{ path: "/usr/bin/swtpm" }]);
    expect(read("-chardev")).toContain("socket,id=chartpm0,path=/run/state/swtpm.sock");
    expect(read("-tpmdev")).toEqual(["emulator,id=tpm-tpm0,chardev=chartpm0"]);
    expect(read("-device")).toContainEqual({ driver: "tpm-crb", id: "tpm0", tpmdev: "tpm-tpm0" });
  });

  it("keeps persistent state apart, so that it outlives the launcher", () => {
    expect(build(tpms("yes")).companions[0]?.directories).toEqual(["/run/kept/swtpm/tpm2"]);
  });

  it("is another device on arm64, and CRB is refused there", () => {
    const os = { type: { value: "hvm", arch: "aarch64", machine: "virt" } } as const;
    const tis: Devices = { tpms: [{ model: "tpm-tis", backend: { type: "emulator" } }] };
    expect(build(tis, { os }).read("-device")).toContainEqual(expect.objectContaining({ driver: "tpm-tis-device" }));
    expect(() => build(tpms("no"), { os })).toThrow("arm64 machines have only tpm-tis");
  });
});

describe("devices of the node", () => {
  const address = { domain: "0x0000", bus: "0x81", slot: "0x00", function: "0x1" };

  it("gives a PCI device to the guest by its address, and says what must be there", () => {
    const { read, needs } = build({
      hostdevs: [{ mode: "subsystem", managed: "no", type: "pci", driver: { name: "vfio" }, source: { address } }],
    });
    expect(read("-device")).toContainEqual({ driver: "vfio-pci", host: "0000:81:00.1", id: "hostdev0" });
    expect(needs.map(({ path }) => path)).toEqual(["/dev/vfio/vfio", "/sys/bus/pci/devices/0000:81:00.1"]);
  });

  it("shows the display of a mediated device from boot on", () => {
    const uuid = "00000000-0000-4000-8000-000000000000";
    const { read } = build({
      hostdevs: [
        {
          mode: "subsystem",
          type: "mdev",
          model: "vfio-pci",
          source: { address: { uuid } },
          display: "on",
          ramfb: "on",
        },
      ],
    });
    expect(read("-device")).toContainEqual({
      driver: "vfio-pci-nohotplug",
      id: "hostdev0",
      sysfsdev: `/sys/bus/mdev/devices/${uuid}`,
      display: "on",
      ramfb: true,
    });
  });

  it("takes a USB device by its node, which the pod must have", () => {
    const { read, needs } = build({
      ...usb,
      hostdevs: [{ mode: "subsystem", type: "usb", source: { address: { bus: 1, device: "12" } } }],
    });
    const node = "/dev/bus/usb/001/012";
    expect(read("-device")).toContainEqual({ driver: "usb-host", hostdevice: node, id: "hostdev0", bus: "usb.0" });
    expect(needs.map(({ path }) => path)).toEqual([node]);
  });

  it.each<[string, Devices, string]>([
    [
      "managed devices",
      { hostdevs: [{ mode: "subsystem", managed: "yes", type: "pci", source: { address } }] },
      "managed",
    ],
    [
      "a mediated device whose name could be a path",
      { hostdevs: [{ type: "mdev", source: { address: { uuid: "../../../etc" } } }] },
      "it must be a UUID",
    ],
    [
      "USB where there is none",
      {
        controllers: [{ type: "usb", model: "none" }],
        hostdevs: [{ type: "usb", source: { address: { bus: 1, device: "2" } } }],
      },
      "USB",
    ],
  ])("refuses %s", (_name, devices, words) => {
    expect(() => build(devices)).toThrow(words);
  });
});

describe("sockets to other programs", () => {
  const filesystems: Devices["filesystems"] = [
    {
      type: "mount",
      accessmode: "passthrough",
      driver: { type: "virtiofs", queue: 1024 },
      source: { socket: "/run/fs.sock" },
      target: { dir: "shared" },
    },
  ];

  it("connects a virtiofs daemon, which must listen", () => {
    const { read, needs } = build({ filesystems }, { memoryBacking: { access: { mode: "shared" } } });
    expect(read("-device")).toContainEqual({
      driver: "vhost-user-fs-pci",
      id: "fs0",
      chardev: "charfs0",
      tag: "shared",
      "queue-size": 1024,
    });
    expect(needs).toMatchObject([{ path: "/run/fs.sock" }]);
  });

  it("refuses virtiofs without shared memory, which QEMU would accept and the daemon could not read", () => {
    expect(() => build({ filesystems })).toThrow("needs guest memory that is shared");
  });

  it("opens a socket for each redirected USB port", () => {
    const source = { mode: "bind", path: "/run/usb-0" } as const;
    const { read } = build({ ...usb, redirdevs: [{ type: "unix", bus: "usb", sources: [source] }] });
    expect(read("-chardev")).toContain("socket,id=charredir0,path=/run/usb-0,server=on,wait=off");
    expect(read("-device")).toContainEqual({ driver: "usb-redir", chardev: "charredir0", id: "redir0", bus: "usb.0" });
  });

  it("carries SCSI reservations to the node's helper", () => {
    const reservations = { managed: "no", source: { type: "unix", path: "/run/pr.sock", mode: "client" } } as const;
    const { read } = build({
      disks: [
        {
          type: "block",
          device: "lun",
          driver: { name: "qemu", type: "raw" },
          source: { dev: "/dev/lun", reservations },
          target: { dev: "sda", bus: "scsi" },
        },
      ],
    });
    expect(read("-object")).toContainEqual({
      "qom-type": "pr-manager-helper",
      id: "pr-helper-scsi-disk-sda",
      path: "/run/pr.sock",
    });
    expect(read("-blockdev")[0]).toMatchObject({ filename: "/dev/lun", "pr-manager": "pr-helper-scsi-disk-sda" });
  });
});

describe("the rest", () => {
  it.each<[string, Devices, object]>([
    [
      "ich9 sound with its codec",
      { sounds: [{ model: "ich9" }] },
      { driver: "hda-duplex", id: "sound0-codec0", bus: "sound0.0", cad: 0, audiodev: "audio0" },
    ],
    ["AC97 sound", { sounds: [{ model: "ac97" }] }, { driver: "AC97", id: "sound0", audiodev: "audio0" }],
    [
      "vsock",
      { vsock: { model: "virtio-non-transitional", cid: { auto: "no", address: 7 } } },
      { driver: "vhost-vsock-pci-non-transitional", id: "vsock0", "guest-cid": 7 },
    ],
  ])("%s", (_name, devices, expected) => {
    expect(build(devices).read("-device")).toContainEqual(expected);
  });

  it("opens the tray of an empty drive after the start", () => {
    const disks: Devices["disks"] = [{ device: "cdrom", target: { dev: "sda", bus: "sata", tray: "open" } }];
    expect(build({ disks }).afterStart).toEqual([
      { command: "blockdev-open-tray", args: { id: "sata-disk-sda", force: true } },
    ]);
  });

  it.each<[string, NonNullable<Domain["clock"]>, string]>([
    ["UTC", { offset: "utc" }, "base=utc"],
    ["a time zone", { offset: "timezone", timezone: "Europe/Berlin" }, "base=2026-01-02T04:04:05"],
    ["a shift", { offset: "variable", adjustment: "-3600", basis: "utc" }, "base=2026-01-02T02:04:05"],
    ["the guest's own time", { offset: "utc", timers: [{ name: "rtc", track: "guest" }] }, "base=utc,clock=vm"],
  ])("sets the clock to %s", (_name, clock, expected) => {
    expect(build({}, { clock }).read("-rtc")).toEqual([expected]);
  });

  it("refuses encrypted memory without a processor that could do it", () => {
    expect(() => build({}, { launchSecurity: { type: "sev", policy: "0x1" } })).toThrow("software emulation cannot");
    const { read, needs } = build({}, { type: "kvm", launchSecurity: { type: "sev", policy: "0x5", cbitpos: 51 } });
    expect(read("-object")).toContainEqual({ "qom-type": "sev-guest", id: "lsec0", cbitpos: 51, policy: 5 });
    expect(read("-machine")[0]).toContain("confidential-guest-support=lsec0");
    expect(needs).toMatchObject([{ path: "/dev/sev" }]);
  });
});
