import type { VirtualMachineInstance, Volume } from "@polyvirt/api";
import { parseArchitecture, type Architecture } from "../architecture.ts";
import type { ClusterConfig } from "../cluster-config.ts";
import type { ConverterContext, VolumeLocation } from "./context.ts";

interface PlanningOptions {
  readonly config: ClusterConfig;
  /** Architecture of the node; the guest's own when left out. */
  readonly hostArchitecture?: Architecture;
  /** Whether the hypervisor's device is there. */
  readonly accelerated?: boolean;
}

const privateFolder = "/var/run/kubevirt-private";

/**
 * What a launcher would know, assumed: every volume, device and file that the VMI asks for is there, in the usual places.
 * For tools that convert a VMI without a launcher, and for tests.
 */
export function planningContext(vmi: VirtualMachineInstance, options: PlanningOptions): ConverterContext {
  const { config, accelerated = true } = options;
  const guestArchitecture = parseArchitecture(vmi.spec.architecture ?? "") ?? config.defaultArchitecture;
  const { gpus = [], hostDevices = [], interfaces = [], filesystems = [] } = vmi.spec.domain.devices;
  const isKept = vmi.spec.domain.firmware?.bootloader?.efi?.persistent === true;
  const guest = `${privateFolder}/${vmi.metadata.uid ?? "UID"}`;
  const firmware = guestArchitecture === "arm64" ? "/usr/share/AAVMF/AAVMF" : "/usr/share/OVMF/OVMF";
  return {
    host: {
      architecture: options.hostArchitecture ?? guestArchitecture,
      hypervisorDeviceAvailable: accelerated,
      hasExecutable: () => true,
    },
    emulation: {
      allowed: config.useEmulation,
      crossArchitectureAllowed: config.isEnabled("MultiArchitectureSoftwareEmulation"),
    },
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
    kernelBoot: kernelBootFiles(vmi),
    network: {
      podNetwork: "tap",
      interfaces: byName(interfaces, (_, index) => ({ tapName: `tap${index}`, mtu: 1450 })),
    },
    firmware: {
      efi: { code: `${firmware}_CODE.fd`, vars: `${firmware}_VARS.fd` },
      efiSecureBoot: { code: `${firmware}_CODE.secboot.fd`, vars: `${firmware}_VARS.secboot.fd` },
      nvram: `${privateFolder}/${isKept ? "vm-state/nvram" : "nvram"}/${vmi.metadata.name ?? "guest"}_VARS.fd`,
    },
    hostDevices: {
      ...byName(hostDevices, (_, index) => ({ kind: "pci", address: `0000:81:0${index}.0` }) as const),
      ...byName(gpus, (_, index) => ({ kind: "mdev", uuid: `00000000-0000-4000-8000-00000000000${index}` }) as const),
      ...byName(
        interfaces.filter(({ sriov }) => sriov !== undefined),
        (_, index) => ({ kind: "pci", address: `0000:82:0${index}.0` }) as const,
      ),
    },
    virtiofsSockets: byName(filesystems, (name) => `/var/run/kubevirt/virtiofs-containers/${name}.sock`),
    acpiTables: { slic: `${privateFolder}/secret/slic/slic.bin`, msdm: `${privateFolder}/secret/msdm/msdm.bin` },
    launchSecurity: { cbitpos: 51, reducedPhysBits: 1 },
    settings: {
      ...machineSettings(config),
      bochsDisplayForEfiGuests: true,
      iommufd: config.isEnabled("IOMMUFD"),
    },
    cpuPlacement: assumedCpus,
  };
}

function machineSettings({ memBalloonStatsPeriod, freePageReporting, serialConsoleLog, smbios }: ClusterConfig) {
  return { memBalloonStatsPeriod, freePageReporting, serialConsoleLog, smbios };
}

function byName<Value>(list: readonly { readonly name: string }[], make: (name: string, index: number) => Value) {
  return Object.fromEntries(list.map(({ name }, index) => [name, make(name, index)]));
}

function kernelBootFiles({ spec }: VirtualMachineInstance): NonNullable<ConverterContext["kernelBoot"]> {
  const folder = "/var/run/kubevirt/container-disks/kernel-boot";
  const { kernelPath, initrdPath } = spec.domain.firmware?.kernelBoot?.container ?? {};
  return {
    ...(kernelPath ? { kernel: `${folder}${kernelPath}` } : {}),
    ...(initrdPath ? { initrd: `${folder}${initrdPath}` } : {}),
  };
}

/** The usual place of a volume's storage, by the kind of its source. */
function locate(volume: Volume): VolumeLocation {
  const { name, containerDisk, ephemeral, emptyDisk, persistentVolumeClaim, dataVolume, hostDisk } = volume;
  if (containerDisk !== undefined || ephemeral !== undefined) {
    const image = containerDisk?.path ?? "/disk/disk.img";
    return {
      kind: "file",
      path: `/var/run/kubevirt-ephemeral-disks/disk-data/${name}/disk.qcow2`,
      format: "qcow2",
      backing: { kind: "file", path: `/var/run/kubevirt/container-disks/${name}${image}`, format: "raw" },
    };
  }
  if (emptyDisk !== undefined) {
    return { kind: "file", path: `/var/run/kubevirt-ephemeral-disks/empty-disks/${name}.qcow2`, format: "qcow2" };
  }
  if (hostDisk !== undefined) return { kind: "file", path: hostDisk.path, format: "raw" };
  if (persistentVolumeClaim !== undefined || dataVolume !== undefined) {
    return { kind: "file", path: `${privateFolder}/vmi-disks/${name}/disk.img`, format: "raw", directIo: true };
  }
  return { kind: "file", path: `${privateFolder}/images/${name}.iso`, format: "raw" };
}

/** Eight CPUs of a node with two NUMA nodes and two threads to a core. */
const assumedCpus: NonNullable<ConverterContext["cpuPlacement"]> = {
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
};
