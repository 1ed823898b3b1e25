import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { clusterConfig, instance } from "../testing/fixtures.ts";

const Mi = 1024 ** 2;
const { resources, tuner } = registry.get("kvm");

describe("memory overhead", () => {
  const overhead = (domain: Parameters<typeof instance>[0], options = {}) =>
    resources.getMemoryOverhead(instance(domain), { architecture: "amd64", ...options });
  const requesting = (memory: string, sockets: number) => ({
    memory: {},
    resources: { requests: { memory } },
    cpu: { sockets },
  });

  it.each([
    ["1Gi", 1, 304_087_040],
    ["2Gi", 2, 300 * Mi],
    ["8Gi", 4, 328 * Mi],
    ["64Gi", 16, 536 * Mi],
  ])("of %s and %i vCPUs is %i bytes", (memory, sockets, bytes) => {
    // Page tables are counted from memory rounded up to thousands, so round numbers come out a little higher.
    const found = overhead(requesting(memory, sockets)).bytes;
    expect(found).toBeGreaterThanOrEqual(bytes);
    expect(found - bytes).toBeLessThan(4096);
  });

  it("counts page tables from guest memory too", () => {
    const pageTables = (domain: Parameters<typeof instance>[0]) =>
      overhead(domain).terms.find(({ name }) => name === "page-tables")?.bytes;
    expect(pageTables({ memory: { guest: "1Gi" } })).toBe(pageTables(requesting("1Gi", 1)));
  });

  it("explains itself: the terms add up", () => {
    const { bytes, terms } = overhead({
      memory: { guest: "1Gi" },
      devices: { tpm: {}, autoattachGraphicsDevice: false },
    });
    expect(terms.reduce((sum, term) => sum + term.bytes, 0)).toBe(bytes);
    expect(terms.map(({ name }) => name)).toEqual([
      "virt-launcher-monitor",
      "virt-launcher",
      "virtlogd",
      "virtqemud",
      "qemu",
      "page-tables",
      "vcpus",
      "io-thread",
      "tpm",
    ]);
  });

  it.each([
    { name: "arm64-firmware", domain: {}, options: { architecture: "arm64" as const }, mebibytes: 128 },
    { name: "vfio", domain: { devices: { gpus: [{ name: "g", deviceName: "d" }] } }, options: {}, mebibytes: 1024 },
    { name: "sev", domain: { launchSecurity: { sev: {} } }, options: {}, mebibytes: 256 },
    { name: "guaranteed-qos", domain: { cpu: { dedicatedCpuPlacement: true } }, options: {}, mebibytes: 100 },
    { name: "reserved", domain: { memory: { reservedOverhead: { addedOverhead: "7Mi" } } }, options: {}, mebibytes: 7 },
    { name: "virt-launcher", domain: {}, options: { virtLauncherOverheadBytes: 64 * Mi }, mebibytes: 64 },
  ])("has a term for $name", ({ name, domain, options, mebibytes }) => {
    expect(overhead(domain, options).terms.find((term) => term.name === name)?.bytes).toBe(mebibytes * Mi);
  });

  it("is stretched by the cluster's ratio, except for the network's share", () => {
    const passt = { devices: { interfaces: [{ name: "default", passtBinding: {} }] } };
    const plain = overhead(passt).bytes;
    const stretched = overhead(passt, { ratio: "2" }).bytes;
    expect(stretched - plain).toBeCloseTo(plain - 250 * Mi, -4);
  });

  it("has what binding plug-ins ask for, each once", () => {
    const iface = { name: "a", binding: { name: "bridge-plus" } };
    const networkBindings = { "bridge-plus": { computeResourceOverhead: { requests: { memory: "20Mi" } } } };
    const domain = { devices: { interfaces: [iface, { ...iface, name: "b" }] } };
    expect(overhead(domain, { networkBindings }).bytes - overhead(domain).bytes).toBe(20 * Mi);
  });
});

describe("device requests", () => {
  const requests = (domain: Parameters<typeof instance>[0], useEmulation = false, hypervisor = "kvm") =>
    registry
      .get(hypervisor)
      .resources.deviceRequests(instance(domain), clusterConfig({ developerConfiguration: { useEmulation } }))
      .map(({ resourceName, optional }) => `${resourceName}${optional ? "?" : ""}`);

  it("ask for the hypervisor's device, unless emulation would do", () => {
    expect(requests({})).toEqual(["devices.kubevirt.io/kvm"]);
    expect(requests({}, false, "mshv")).toEqual(["devices.kubevirt.io/mshv"]);
    expect(requests({}, true)).toEqual(["devices.kubevirt.io/kvm?"]);
  });

  it("follow the devices of the guest", () => {
    const devices = { interfaces: [{ name: "default", masquerade: {} }], autoattachVSOCK: true };
    expect(requests({ devices })).toEqual([
      "devices.kubevirt.io/kvm",
      "devices.kubevirt.io/tun?",
      "devices.kubevirt.io/vhost-net?",
      "devices.kubevirt.io/vhost-vsock",
    ]);
  });
});

describe("locked memory", () => {
  it("is needed by devices of the node, real-time CPUs and on request", () => {
    const config = clusterConfig();
    expect(tuner.adjustResources(instance(), config)).toEqual({ terms: [] });
    const locked = { memory: { guest: "1Gi", reservedOverhead: { memLock: "Required" } } };
    const { memlockBytes, terms } = tuner.adjustResources(instance(locked), config);
    expect(memlockBytes).toBeGreaterThan(2048 * Mi);
    expect(terms.map(({ name }) => name)).toEqual(["guest-memory", "overhead", "device-memory"]);
  });
});
