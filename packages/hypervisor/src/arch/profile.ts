import type { Architecture } from "../architecture.ts";

/** Everything about a guest architecture that validation and conversion look up instead of switching on its name. */
export interface ArchitectureProfile {
  readonly name: Architecture;
  /** QEMU's and libvirt's name. */
  readonly machineName: string;
  readonly emulator: string;
  /** Bus of a disk that names none. A CD-ROM cannot be on virtio, and a LUN speaks SCSI by nature. */
  readonly buses: { readonly disk: DiskBus; readonly cdrom: DiskBus; readonly lun: DiskBus };
  readonly serial: { readonly type: string; readonly model: string };
  /** libvirt's `model` of virtio devices, modern and with the legacy interface. */
  readonly virtioModel: { readonly modern: string; readonly transitional: string };
  readonly scsiModel: { readonly modern: string; readonly transitional: string };
  /** Whether the guest gets a USB controller: always, never, or when a device or a graphics console needs it. */
  readonly usb: "always" | "never" | "on-demand";
  readonly video: { readonly bios: VideoDefault; readonly efi: VideoDefault; readonly allowed: readonly string[] };
  /** Input devices that come with graphics. */
  readonly graphicsInputs: readonly { readonly type: string; readonly bus: string }[];
  /** Model of an emulated TPM; only some keep their state where it can be moved along with the guest. */
  readonly tpmModel: { readonly transient: string; readonly persistent: string };
  readonly watchdog: "i6300esb" | "diag288" | undefined;
  readonly panicModels: readonly string[];
  /** Whether there is ACPI: always, never, or only when UEFI brings its tables. */
  readonly acpi: "always" | "never" | "with-efi";
  readonly smbios: boolean;
  readonly cpuHotplug: boolean;
  readonly memoryHotplug: boolean;
  /** PCI expansion ROMs can be switched off, and PCI addresses can be chosen. */
  readonly pci: boolean;
  /** Guest memory may come from memfd, which sharing with other processes needs. */
  readonly memfd: boolean;
  /** VMware's back door port exists and is switched off. */
  readonly vmport: boolean;
  /** CPU features that named models still list but no host offers. */
  readonly retiredCpuFeatures: readonly string[];
  readonly launchSecurity: boolean;
  readonly hyperv: boolean;
  /** Switches of QEMU's best CPU whose feature costs an emulated guest far more than it gives. */
  readonly emulatedCpuSwitches: readonly string[];
}

type DiskBus = "sata" | "scsi" | "virtio";

interface VideoDefault {
  readonly type: string;
  readonly vramKib?: number;
}
