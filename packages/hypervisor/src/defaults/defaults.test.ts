import type { KubeVirtConfiguration, VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { clusterConfig, instance, testUuid } from "../testing/fixtures.ts";

function complete(vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration = {}, hypervisor = "kvm") {
  const config = clusterConfig(configuration);
  return registry.get(hypervisor).defaults.applyToInstance(vmi, { config, randomUuid: () => testUuid });
}

describe("defaults, base", () => {
  it("leaves the given object as it is", () => {
    const vmi = instance();
    const before = structuredClone(vmi);
    complete(vmi);
    expect(vmi).toEqual(before);
  });

  it("sets nothing that is set", () => {
    const full = complete(instance({ cpu: { cores: 2, sockets: 2, threads: 1 } }));
    expect(complete(full)).toEqual(full);
  });

  it("takes the architecture of the cluster, else of the node it runs on", () => {
    expect(complete(instance()).spec.architecture).toBe("amd64");
    const configuration = { architectureConfiguration: { defaultArchitecture: "arm64" } };
    expect(complete(instance(), configuration).spec.architecture).toBe("arm64");
  });

  it.each([
    { name: "the memory request", domain: { resources: { requests: { memory: "1Gi" } } }, guest: "1Gi" },
    { name: "the memory limit", domain: { resources: { limits: { memory: "2Gi" } } }, guest: "2Gi" },
    { name: "the page size", domain: { memory: { hugepages: { pageSize: "1Gi" } } }, guest: "1Gi" },
  ])("takes guest memory from $name", ({ domain, guest }) => {
    expect(complete(instance({ memory: {}, ...domain })).spec.domain.memory?.guest).toBe(guest);
  });

  it("sets the CPU request from the limit, or from the cluster unless CPUs are dedicated", () => {
    const request = (domain: Parameters<typeof instance>[0], configuration = {}) =>
      complete(instance(domain), configuration).spec.domain.resources?.requests?.["cpu"];
    expect(request({ resources: { limits: { cpu: "2" } } })).toBe("2");
    expect(request({}, { cpuRequest: "200m" })).toBe("200m");
    expect(request({}, { cpuRequest: "100m" })).toBeUndefined();
    expect(request({ cpu: { dedicatedCpuPlacement: true } }, { cpuRequest: "200m" })).toBeUndefined();
  });

  it("makes one socket for each CPU that the pod asks for", () => {
    const cpu = complete(instance({ resources: { requests: { cpu: "3" }, limits: { cpu: "2500m" } } })).spec.domain.cpu;
    expect(cpu).toMatchObject({ cores: 1, threads: 1, sockets: 3 });
    expect(complete(instance({ cpu: { cores: 4 } })).spec.domain.cpu).toMatchObject({ cores: 4 });
  });

  it.each([
    ["registry:5000/demo", "Always"],
    ["demo:latest", "Always"],
    ["demo:1.2", "IfNotPresent"],
    ["demo@sha256:abc", "IfNotPresent"],
    ["registry:5000/demo:v1", "IfNotPresent"],
  ])("pulls %s %s", (image, policy) => {
    const vmi = complete(instance({}, { volumes: [{ name: "root", containerDisk: { image } }] }));
    expect(vmi.spec.volumes?.[0]?.containerDisk?.imagePullPolicy).toBe(policy);
  });

  it("attaches the pod network unless told otherwise", () => {
    const networks = (domain: Parameters<typeof instance>[0], configuration = {}) => {
      const { spec } = complete(instance(domain), configuration);
      return { interfaces: spec.domain.devices.interfaces, networks: spec.networks };
    };
    expect(networks({})).toEqual({
      interfaces: [{ name: "default", bridge: {} }],
      networks: [{ name: "default", pod: {} }],
    });
    const masquerade = { network: { defaultNetworkInterface: "masquerade" } };
    expect(networks({}, masquerade).interfaces).toEqual([{ name: "default", masquerade: {} }]);
    expect(networks({ devices: { autoattachPodInterface: false } })).toEqual({});
  });

  it("makes a disk of every volume that nothing uses", () => {
    const volumes = [
      { name: "root", containerDisk: { image: "demo:1" } },
      { name: "share", configMap: { name: "share" } },
      { name: "dump", memoryDump: { claimName: "dump" } },
    ];
    const vmi = instance({ devices: { filesystems: [{ name: "share", virtiofs: {} }] } }, { volumes });
    expect(complete(vmi).spec.domain.devices.disks).toEqual([{ name: "root", disk: { bus: "sata" } }]);
  });

  it("completes CD-ROMs, inputs, features, timers and probes", () => {
    const vmi = complete(
      instance(
        {
          devices: { disks: [{ name: "iso", cdrom: {} }], autoattachInputDevice: true },
          features: { apic: {}, hyperv: { spinlocks: {}, relaxed: {}, synictimer: { direct: {} } } },
          clock: { timer: { rtc: {}, hpet: { present: false } } },
        },
        { readinessProbe: { tcpSocket: { port: 22 }, periodSeconds: 5 } },
      ),
    );
    const { domain, readinessProbe } = vmi.spec;
    expect(domain.devices.disks).toEqual([{ name: "iso", cdrom: { bus: "sata", readonly: true, tray: "closed" } }]);
    expect(domain.devices.inputs).toEqual([{ name: "default-0", bus: "usb", type: "tablet" }]);
    expect(domain.features).toEqual({
      apic: { enabled: true },
      hyperv: {
        spinlocks: { enabled: true, spinlocks: 4096 },
        relaxed: { enabled: true },
        synictimer: { enabled: true, direct: { enabled: true } },
        // Synthetic timers need the interrupt controller, and that needs the index of virtual processors.
        synic: { enabled: true },
        vpindex: { enabled: true },
      },
    });
    expect(domain.clock?.timer).toEqual({ rtc: { present: true }, hpet: { present: false } });
    expect(readinessProbe).toMatchObject({
      timeoutSeconds: 1,
      periodSeconds: 5,
      successThreshold: 1,
      failureThreshold: 3,
    });
  });

  it("adds what nested Hyper-V needs", () => {
    const { domain } = complete(instance({ features: { hyperv: { evmcs: {} } } })).spec;
    expect(domain.features?.hyperv?.vapic).toEqual({ enabled: true });
    expect(domain.cpu?.features).toEqual([{ name: "vmx", policy: "require" }]);
  });
});

describe("defaults, by architecture", () => {
  const on = (architecture: string, domain: Parameters<typeof instance>[0] = {}) =>
    complete(
      instance(
        { devices: { disks: [{ name: "a" }, { name: "b", cdrom: {} }, { name: "c", lun: {} }] }, ...domain },
        { architecture },
      ),
    ).spec.domain;
  const busesOf = ({ devices }: ReturnType<typeof on>) =>
    devices.disks?.map(({ disk, cdrom, lun }) => (disk ?? cdrom ?? lun)?.bus);

  it("amd64", () => {
    const domain = on("amd64", {});
    expect(domain).toMatchObject({ machine: { type: "q35" }, cpu: { model: "host-model", maxSockets: 4 } });
    expect(busesOf(domain)).toEqual(["sata", "sata", "scsi"]);
    const watchdog = complete(
      instance({ devices: { watchdog: { name: "w", i6300esb: {} } } }, { architecture: "amd64" }),
    );
    expect(watchdog.spec.domain.devices.watchdog?.i6300esb).toEqual({ action: "reset" });
  });

  it("arm64", () => {
    const domain = on("arm64");
    expect(domain).toMatchObject({
      machine: { type: "virt" },
      cpu: { model: "host-passthrough" },
      firmware: { bootloader: { efi: { secureBoot: false } } },
    });
    expect(domain.cpu?.maxSockets).toBeUndefined();
    expect(busesOf(domain)).toEqual(["virtio", "scsi", "scsi"]);
    const kernelBoot = { container: { image: "k:1", kernelPath: "/k" } };
    expect(on("arm64", { firmware: { kernelBoot } }).firmware?.bootloader).toBeUndefined();
  });

  it("s390x", () => {
    const domain = on("s390x");
    expect(domain).toMatchObject({ machine: { type: "s390-ccw-virtio" }, features: { acpi: { enabled: false } } });
    expect(busesOf(domain)).toEqual(["virtio", "scsi", "scsi"]);
    const devices = { watchdog: { name: "w", diag288: {} }, autoattachInputDevice: true };
    const vmi = complete(instance({ devices }, { architecture: "s390x" }));
    expect(vmi.spec.domain.devices.watchdog?.diag288).toEqual({ action: "reset" });
    expect(vmi.spec.domain.devices.inputs?.[0]?.bus).toBe("virtio");
  });

  it("takes machine types from the cluster", () => {
    const configuration = { architectureConfiguration: { amd64: { machineType: "pc-q35-9.0" } } };
    expect(complete(instance(), configuration).spec.domain.machine?.type).toBe("pc-q35-9.0");
  });

  it("leaves an unknown architecture alone", () => {
    expect(complete(instance({}, { architecture: "ppc64le" })).spec.domain.machine).toBeUndefined();
  });
});

describe("defaults, by hypervisor", () => {
  it("mshv/amd64 gets the one CPU model that it can run, unless the user chose another", () => {
    expect(complete(instance(), {}, "mshv").spec.domain.cpu?.model).toBe("qemu64-v1");
    expect(complete(instance({ cpu: { model: "Skylake" } }), {}, "mshv").spec.domain.cpu?.model).toBe("Skylake");
  });

  it("mshv/arm64 has no such model", () => {
    expect(complete(instance({}, { architecture: "arm64" }), {}, "mshv").spec.domain.cpu?.model).toBe(
      "host-passthrough",
    );
  });

  it("the cluster's CPU model comes last", () => {
    expect(complete(instance(), { cpuModel: "Haswell" }).spec.domain.cpu?.model).toBe("Haswell");
    expect(complete(instance(), { cpuModel: "Haswell" }, "mshv").spec.domain.cpu?.model).toBe("qemu64-v1");
  });
});

describe("defaults, finalization", () => {
  it("notes what the guest starts with", () => {
    const { status } = complete(instance({ cpu: { cores: 2, sockets: 3 } }));
    expect(status).toEqual({
      memory: { guestAtBoot: "128Mi", guestCurrent: "128Mi", guestRequested: "128Mi" },
      currentCPUTopology: { cores: 2, sockets: 3, threads: 1 },
    });
  });

  it.each([
    { name: "four times the sockets", cpu: { sockets: 2 }, configuration: {}, maxSockets: 8 },
    { name: "at most 512 vCPUs", cpu: { sockets: 8, cores: 32 }, configuration: {}, maxSockets: 16 },
    { name: "never fewer than there are", cpu: { sockets: 600 }, configuration: {}, maxSockets: 600 },
    {
      name: "what the cluster says",
      cpu: { sockets: 2 },
      configuration: { liveUpdateConfiguration: { maxCpuSockets: 6 } },
      maxSockets: 6,
    },
    {
      name: "nothing when changes are staged",
      cpu: { sockets: 2 },
      configuration: { vmRolloutStrategy: "Stage" },
      maxSockets: undefined,
    },
  ])("prepares sockets for hotplug: $name", ({ cpu, configuration, maxSockets }) => {
    expect(complete(instance({ cpu }), configuration).spec.domain.cpu?.maxSockets).toBe(maxSockets);
  });

  it.each([
    { name: "four times the memory", memory: { guest: "1Gi" }, maxGuest: "4Gi" },
    { name: "not for small guests", memory: { guest: "512Mi" }, maxGuest: undefined },
    { name: "not when it does not divide into blocks", memory: { guest: "1073741825" }, maxGuest: undefined },
  ])("prepares memory for hotplug: $name", ({ memory, maxGuest }) => {
    expect(complete(instance({ memory })).spec.domain.memory?.maxGuest).toBe(maxGuest);
  });

  it("names the layout of PCI slots", () => {
    expect(complete(instance()).metadata.annotations).toEqual({ "kubevirt.io/pci-topology-version": "v3" });
    expect(complete(instance({}, { architecture: "s390x" })).metadata.annotations).toBeUndefined();
  });

  it("tells who set which field", () => {
    const steps: string[] = [];
    const config = clusterConfig();
    registry
      .get("mshv")
      .defaults.applyToInstance(instance(), { config, randomUuid: () => testUuid }, ({ layer, name }) =>
        steps.push(`${layer}/${name}`),
      );
    expect(steps[0]).toBe("base/architecture");
    expect(steps).toContain("architecture/machine-type");
    expect(steps).toContain("pair/mshv-cpu-model");
    expect(steps.indexOf("pair/mshv-cpu-model")).toBeLessThan(steps.indexOf("finalization/cpu-model"));
  });
});
