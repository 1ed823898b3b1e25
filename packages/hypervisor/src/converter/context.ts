import type { Architecture } from "../architecture.ts";

/**
 * What the launcher knows and the converter may not find out by itself: paths, devices, files, limits. One explicit value,
 * so that the conversion is the same in the launcher, in `polyvirt convert` and in tests.
 */
export interface ConverterContext {
  readonly host: HostFacts;
  readonly emulation: EmulationRules;
  readonly paths: GuestPaths;
  /** Where each volume of the VMI is, by volume name. A disk whose volume is missing here is refused. */
  readonly volumes: Readonly<Record<string, VolumeLocation>>;
  /** Files of `firmware.kernelBoot`, already found in the image. */
  readonly kernelBoot?: { readonly kernel?: string; readonly initrd?: string };
  readonly network: NetworkFacts;
  readonly firmware: FirmwareFiles;
  /** Devices that the pod got for `gpus` and `hostDevices`, by their name in the VMI. */
  readonly hostDevices: Readonly<Record<string, HostDeviceLocation>>;
  /** Sockets of running virtiofs daemons, by file system name. */
  readonly virtiofsSockets: Readonly<Record<string, string>>;
  /** Values of Secrets and the like that become part of the machine. */
  readonly acpiTables?: { readonly slic?: string; readonly msdm?: string };
  readonly launchSecurity?: {
    readonly dhCert?: string;
    readonly session?: string;
    readonly cbitpos?: number;
    readonly reducedPhysBits?: number;
  };
  readonly settings: MachineSettings;
  /** CPUs that the pod may use exclusively, and the node's topology; needed for dedicated CPU placement. */
  readonly cpuPlacement?: CpuPlacement;
}

export interface HostFacts {
  readonly architecture: Architecture;
  /** Whether the hypervisor's device (say /dev/kvm) is present and usable in the pod. */
  readonly hypervisorDeviceAvailable: boolean;
  /** Whether a program exists in the launcher's file system: the emulators of other architectures may be missing. */
  readonly hasExecutable: (path: string) => boolean;
}

export interface EmulationRules {
  /** `useEmulation` of the cluster. */
  readonly allowed: boolean;
  /** Feature gate `MultiArchitectureSoftwareEmulation` (KubeVirt: `CrossArchitectureVirtualization`). */
  readonly crossArchitectureAllowed: boolean;
}

/** Unix sockets and files of this guest, all inside the launcher's pod. */
export interface GuestPaths {
  readonly serialConsole: string;
  readonly serialConsoleLog: string;
  readonly vnc: string;
  readonly guestAgent: string;
  /** Prefix of the USB redirection sockets: `<prefix>0` … `<prefix>3`. */
  readonly usbRedirection: string;
  readonly downwardMetrics?: string;
  /** File with the first-boot configuration of the annotation `kubevirt.io/ignitiondata`. */
  readonly ignition?: string;
}

export type ImageFormat = "raw" | "qcow2";

/** One disk's storage. `format` is always said: probing an untrusted image is unsafe. */
export interface VolumeLocation {
  readonly kind: "file" | "block";
  readonly path: string;
  readonly format: ImageFormat;
  /** Image below an overlay, for container disks and ephemeral volumes. */
  readonly backing?: { readonly kind: "file" | "block"; readonly path: string; readonly format: ImageFormat };
  /** Raw data file of an overlay that only tracks changed blocks. */
  readonly dataFile?: { readonly kind: "file" | "block"; readonly path: string };
  /** Whether the storage can be opened past the page cache. */
  readonly directIo?: boolean;
  /** Whether all blocks are allocated already, which makes native AIO worthwhile. */
  readonly preallocated?: boolean;
  /** What the storage reports, for `blockSize.matchVolume`. */
  readonly blockSize?: { readonly logical: number; readonly physical: number; readonly discardGranularity?: number };
  readonly readonly?: boolean;
  /** Part of the guest since it started, or attached later. */
  readonly hotplugged?: boolean;
}

export interface NetworkFacts {
  /**
   * How the pod network reaches the guest: `user` is the VMM's own user-mode network, which needs nothing from the pod;
   * `tap` is a tap device that the node agent prepared for each interface.
   */
  readonly podNetwork: "user" | "tap";
  /** The pod's own address, on which forwarded ports listen. */
  readonly podAddress?: string;
  /** Prepared devices by interface name. */
  readonly interfaces: Readonly<Record<string, InterfaceLocation>>;
}

export interface InterfaceLocation {
  /** Missing when the interface gets along without a device of the pod (passt). */
  readonly tapName?: string;
  readonly mtu?: number;
  readonly macAddress?: string;
}

export interface FirmwareFiles {
  /** Code and variable template, by flavour; absent when the launcher has none. */
  readonly efi?: EfiImage;
  readonly efiSecureBoot?: EfiImage;
  /** Where this guest's own variables are kept. */
  readonly nvram?: string;
}

export interface EfiImage {
  readonly code: string;
  readonly vars: string;
}

export type HostDeviceLocation =
  | { readonly kind: "pci"; readonly address: string; readonly driver?: string }
  | { readonly kind: "mdev"; readonly uuid: string; readonly display?: boolean; readonly ramFb?: boolean }
  | { readonly kind: "usb"; readonly bus: number; readonly device: number };

/** Cluster-wide settings that show in the machine. */
export interface MachineSettings {
  readonly memBalloonStatsPeriod: number;
  readonly freePageReporting: boolean;
  readonly bochsDisplayForEfiGuests: boolean;
  readonly serialConsoleLog: boolean;
  /** Feature gate `IOMMUFD`. */
  readonly iommufd?: boolean;
  readonly smbios: {
    readonly manufacturer: string;
    readonly product: string;
    readonly family: string;
    readonly version?: string;
    readonly sku?: string;
  };
}

export interface CpuPlacement {
  readonly dedicatedCpus: readonly number[];
  readonly nodes: readonly { readonly id: number; readonly cpus: readonly number[]; readonly memoryBytes: number }[];
  /** CPUs that share a core, so that guest threads land on siblings. */
  readonly threadSiblings: readonly (readonly number[])[];
}
