import type { ArchitectureProfile } from "./profile.ts";

export const arm64 = {
  name: "arm64",
  machineName: "aarch64",
  emulator: "/usr/bin/qemu-system-aarch64",
  buses: { disk: "virtio", cdrom: "scsi", lun: "scsi" },
  serial: { type: "system-serial", model: "pl011" },
  virtioModel: { modern: "virtio-non-transitional", transitional: "virtio-transitional" },
  scsiModel: { modern: "virtio-non-transitional", transitional: "virtio-transitional" },
  usb: "always",
  video: { bios: { type: "virtio" }, efi: { type: "virtio" }, allowed: ["virtio", "ramfb"] },
  graphicsInputs: [
    { type: "tablet", bus: "usb" },
    { type: "keyboard", bus: "usb" },
  ],
  tpmModel: { transient: "tpm-tis", persistent: "tpm-tis" },
  watchdog: undefined,
  panicModels: ["pvpanic"],
  acpi: "with-efi",
  smbios: true,
  cpuHotplug: false,
  memoryHotplug: false,
  pci: true,
  memfd: true,
  vmport: false,
  retiredCpuFeatures: [],
  launchSecurity: false,
  hyperv: false,
  // Pointer authentication makes emulated guests four times slower.
  emulatedCpuSwitches: ["max-arm-cpu.pauth=off"],
} as const satisfies ArchitectureProfile;
