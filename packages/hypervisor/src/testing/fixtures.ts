/** Values that this package's tests share: a small valid VMI, a cluster, and what a launcher would know. */
import type { KubeVirtConfiguration, VirtualMachineInstance, VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { Architecture } from "../architecture.ts";
import { resolveClusterConfig, type ClusterConfig } from "../cluster-config.ts";
import type { ConverterContext, VolumeLocation } from "../converter/context.ts";

export const testUuid = "5d307ca9-b3ef-428c-8861-06e72d69f223";

export function clusterConfig(
  configuration: KubeVirtConfiguration = {},
  hostArchitecture: Architecture = "amd64",
): ClusterConfig {
  return resolveClusterConfig(configuration, { hostArchitecture });
}

export function instance(
  domain: Partial<VirtualMachineInstanceSpec["domain"]> = {},
  spec: Partial<Omit<VirtualMachineInstanceSpec, "domain">> = {},
): VirtualMachineInstance {
  return {
    metadata: { name: "testvmi", namespace: "default", uid: "11111111-2222-3333-4444-555555555555" },
    spec: { ...spec, domain: { devices: {}, memory: { guest: "128Mi" }, ...domain } },
  };
}

/** Where a launcher of KubeVirt's layout keeps the storage of a volume, by the kind of its source. */
function locate(volume: NonNullable<VirtualMachineInstanceSpec["volumes"]>[number]): VolumeLocation {
  const { name } = volume;
  const claim: VolumeLocation = {
    kind: "file",
    path: `/var/run/kubevirt-private/vmi-disks/${name}/disk.img`,
    format: "raw",
    directIo: true,
  };
  if (volume.containerDisk !== undefined || volume.ephemeral !== undefined) {
    return {
      kind: "file",
      path: `/var/run/kubevirt-ephemeral-disks/disk-data/${name}/disk.qcow2`,
      format: "qcow2",
      backing: { kind: "file", path: `/var/run/kubevirt/container-disks/${name}/disk/disk.img`, format: "raw" },
    };
  }
  if (volume.emptyDisk !== undefined) {
    return { kind: "file", path: `/var/run/kubevirt-ephemeral-disks/empty-disks/${name}.qcow2`, format: "qcow2" };
  }
  if (volume.persistentVolumeClaim?.claimName.startsWith("block-") === true) {
    return { kind: "block", path: `/dev/${name}`, format: "raw", directIo: true };
  }
  if (volume.persistentVolumeClaim !== undefined || volume.dataVolume !== undefined) return claim;
  if (volume.hostDisk !== undefined) return { kind: "file", path: volume.hostDisk.path, format: "raw" };
  return { kind: "file", path: `/var/run/kubevirt-private/images/${name}.iso`, format: "raw", readonly: true };
}

interface ContextOptions {
  readonly hostArchitecture?: Architecture;
  readonly accelerated?: boolean;
}

/** Everything that a VMI may need is there; tests take away what they are about. */
export function converterContext(vmi: VirtualMachineInstance, options: ContextOptions = {}): ConverterContext {
  const { hostArchitecture = "amd64", accelerated = true } = options;
  const guest = "/var/run/kubevirt-private/11111111-2222-3333-4444-555555555555";
  const { gpus = [], hostDevices = [], interfaces = [], filesystems = [] } = vmi.spec.domain.devices;
  const edk2 = vmi.spec.architecture === "arm64" ? "/usr/share/AAVMF/AAVMF" : "/usr/share/OVMF/OVMF";
  const byName = <Value>(names: readonly { readonly name: string }[], make: (name: string, index: number) => Value) =>
    Object.fromEntries(names.map(({ name }, index) => [name, make(name, index)]));
  return {
    host: { architecture: hostArchitecture, hypervisorDeviceAvailable: accelerated, hasExecutable: () => true },
    emulation: { allowed: true, crossArchitectureAllowed: true },
    paths: {
      serialConsole: `${guest}/virt-serial0`,
      serialConsoleLog: `${guest}/virt-serial0-log`,
      vnc: `${guest}/virt-vnc`,
      guestAgent: `${guest}/virt-agent`,
      usbRedirection: `${guest}/virt-usbredir-`,
      downwardMetrics: `${guest}/virt-metrics`,
      ignition: `${guest}/ignition.json`,
    },
    volumes: Object.fromEntries((vmi.spec.volumes ?? []).map((volume) => [volume.name, locate(volume)])),
    kernelBoot: {
      kernel: "/var/run/kubevirt/container-disks/kernel-boot/boot/vmlinuz-virt",
      initrd: "/var/run/kubevirt/container-disks/kernel-boot/boot/initramfs-virt",
    },
    network: {
      podNetwork: "tap",
      interfaces: byName(interfaces, (_, index) => ({ tapName: `tap${index}`, mtu: 1450 })),
    },
    firmware: {
      efi: { code: `${edk2}_CODE.fd`, vars: `${edk2}_VARS.fd` },
      efiSecureBoot: { code: `${edk2}_CODE.secboot.fd`, vars: `${edk2}_VARS.secboot.fd` },
      nvram: "/var/run/kubevirt-private/nvram/testvmi_VARS.fd",
    },
    hostDevices: {
      ...byName(hostDevices, (_, index) => ({ kind: "pci", address: `0000:81:0${index}.0` }) as const),
      ...byName(gpus, () => ({ kind: "mdev", uuid: testUuid }) as const),
      ...byName(
        interfaces.filter(({ sriov }) => sriov !== undefined),
        (_, index) => ({ kind: "pci", address: `0000:82:0${index}.0` }) as const,
      ),
    },
    virtiofsSockets: byName(filesystems, (name) => `/var/run/kubevirt/virtiofs-containers/${name}.sock`),
    acpiTables: {
      slic: "/var/run/kubevirt-private/secret/slic/slic.bin",
      msdm: "/var/run/kubevirt-private/secret/msdm/msdm.bin",
    },
    launchSecurity: { cbitpos: 51, reducedPhysBits: 1 },
    settings: {
      memBalloonStatsPeriod: 10,
      freePageReporting: true,
      bochsDisplayForEfiGuests: true,
      serialConsoleLog: true,
      smbios: { manufacturer: "KubeVirt", product: "None", family: "KubeVirt" },
    },
    cpuPlacement: {
      dedicatedCpus: [4, 5, 6, 7, 8, 9, 10, 11],
      nodes: [
        { id: 0, cpus: [0, 1, 2, 3, 4, 5, 6, 7], memoryBytes: 64 * 1024 ** 3 },
        { id: 1, cpus: [8, 9, 10, 11, 12, 13, 14, 15], memoryBytes: 64 * 1024 ** 3 },
      ],
      threadSiblings: [
        [4, 5],
        [6, 7],
        [8, 9],
        [10, 11],
      ],
    },
  };
}
