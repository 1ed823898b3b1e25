import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PermittedHostDevices } from "@polyvirt/api";
import { openKernelTree } from "@polyvirt/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeSources } from "./node-sources.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pv-devices-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(path: string, content = ""): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function link(path: string, target: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  symlinkSync(target, join(folder, path));
}

function pciDevice(address: string, { vendor = "0x10de", device = "0x1eb8", driver = "vfio-pci", group = "7" } = {}) {
  const path = `sys/bus/pci/devices/${address}`;
  file(`${path}/vendor`, `${vendor}\n`);
  file(`${path}/device`, `${device}\n`);
  file(`${path}/numa_node`, "1\n");
  link(`${path}/driver`, `../../../../bus/pci/drivers/${driver}`);
  link(`${path}/iommu_group`, `../../../kernel/iommu_groups/${group}`);
}

function usbDevice(name: string, vendor: string, product: string, bus: number, address: number): void {
  const path = `sys/bus/usb/devices/${name}`;
  file(`${path}/idVendor`, `${vendor}\n`);
  file(`${path}/idProduct`, `${product}\n`);
  file(`${path}/busnum`, `${bus}\n`);
  file(`${path}/devnum`, `${address}\n`);
}

function sources(permitted?: PermittedHostDevices, usable = true) {
  return nodeSources({
    sys: openKernelTree(join(folder, "sys")),
    dev: openKernelTree(join(folder, "dev")),
    hypervisorDevice: "kvm",
    isHypervisorUsable: () => usable,
    permitted,
  });
}

function source(name: string, permitted?: PermittedHostDevices, usable = true) {
  const found = sources(permitted, usable).find(({ resourceName }) => resourceName === name);
  if (found === undefined) throw new Error(`nothing offers ${name}`);
  return found;
}

describe("devices of every node", () => {
  it("are the hypervisor's, tun, vhost-net and vhost-vsock, whether they are there or not", () => {
    expect(sources().map(({ resourceName }) => resourceName)).toEqual([
      "devices.kubevirt.io/kvm",
      "devices.kubevirt.io/tun",
      "devices.kubevirt.io/vhost-net",
      "devices.kubevirt.io/vhost-vsock",
    ]);
  });

  it("are healthy for as long as the device node is there", () => {
    const tun = source("devices.kubevirt.io/tun");
    const isHealthy = () => tun.list().every(({ healthy }) => healthy);
    expect(isHealthy()).toBe(false);
    file("dev/net/tun");
    expect(isHealthy()).toBe(true);
    rmSync(join(folder, "dev/net/tun"));
    expect(isHealthy()).toBe(false);
    expect(tun.list()).toHaveLength(1000);
    expect(tun.grant(["tun3"])).toEqual({ nodes: ["/dev/net/tun"], environment: {} });
  });

  it("of the hypervisor are healthy only when a guest has run on it", () => {
    file("dev/kvm");
    expect(source("devices.kubevirt.io/kvm").list()[0]).toEqual({ id: "kvm0", healthy: true });
    expect(source("devices.kubevirt.io/kvm", undefined, false).list()[0]?.healthy).toBe(false);
  });
});

describe("PCI devices", () => {
  const permitted = {
    pciHostDevices: [
      { resourceName: "example.org/gpu", pciVendorSelector: "10DE:1EB8" },
      { resourceName: "example.org/other", pciVendorSelector: "10de:1eb8", externalResourceProvider: true },
    ],
  };

  it("are those of the model that VFIO holds, with their group", () => {
    pciDevice("0000:01:00.0", { group: "7" });
    pciDevice("0000:02:00.0", { group: "8" });
    pciDevice("0000:03:00.0", { driver: "nvidia" });
    pciDevice("0000:04:00.0", { device: "0x1111" });
    file("dev/vfio/7");
    const gpu = source("example.org/gpu", permitted);
    expect(gpu.list()).toEqual([
      { id: "0000:01:00.0", healthy: true, numaNode: 1 },
      { id: "0000:02:00.0", healthy: false, numaNode: 1 },
    ]);
    expect(gpu.grant(["0000:01:00.0", "0000:02:00.0"])).toEqual({
      nodes: ["/dev/vfio/vfio", "/dev/vfio/7", "/dev/vfio/8"],
      environment: { PCI_RESOURCE_EXAMPLE_ORG_GPU: "0000:01:00.0,0000:02:00.0" },
    });
  });

  it("are left to others where they say so", () => {
    expect(sources(permitted).some(({ resourceName }) => resourceName === "example.org/other")).toBe(false);
  });
});

describe("mediated devices", () => {
  it.each(["GRID T4-1Q", "GRID_T4-1Q", "nvidia-222"])("are found by their type: %s", (mdevNameSelector) => {
    const uuid = "11111111-2222-3333-4444-555555555555";
    const path = `sys/bus/mdev/devices/${uuid}`;
    file("sys/types/nvidia-222/name", "GRID T4-1Q\n");
    link(`${path}/mdev_type`, "../../../../types/nvidia-222");
    link(`${path}/iommu_group`, "../../../kernel/iommu_groups/12");
    file("dev/vfio/12");
    const vgpu = source("example.org/vgpu", {
      mediatedDevices: [{ resourceName: "example.org/vgpu", mdevNameSelector }],
    });
    expect(vgpu.list()).toEqual([{ id: uuid, healthy: true }]);
    expect(vgpu.grant([uuid])).toEqual({
      nodes: ["/dev/vfio/vfio", "/dev/vfio/12"],
      environment: { MDEV_PCI_RESOURCE_EXAMPLE_ORG_VGPU: uuid },
    });
  });
});

describe("USB devices", () => {
  it("are given away in whole sets", () => {
    usbDevice("1-1", "0951", "1666", 1, 3);
    usbDevice("1-2", "046d", "c52b", 1, 4);
    usbDevice("2-1", "046d", "C52B", 2, 12);
    file("sys/bus/usb/devices/1-1:1.0/bInterfaceClass", "08\n");
    file("dev/bus/usb/001/003");
    file("dev/bus/usb/001/004");
    const usb = [
      {
        resourceName: "example.org/kit",
        selectors: [
          { vendor: "046D", product: "c52b" },
          { vendor: "0951", product: "1666" },
        ],
      },
    ];
    const kit = source("example.org/kit", { usb });
    expect(kit.list()).toEqual([{ id: "1-4_1-3", healthy: true }]);
    expect(kit.grant(["1-4_1-3"])).toEqual({
      nodes: ["/dev/bus/usb/001/004", "/dev/bus/usb/001/003"],
      environment: { USB_RESOURCE_EXAMPLE_ORG_KIT: "1:4,1:3" },
    });
  });
});
