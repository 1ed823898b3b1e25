/** What is not fully supported, by overlay, apart from what a hypervisor says about itself. Messages are what users see. */
import type { FeatureGateName } from "@polyvirt/api";
import type { FeatureKey } from "./features.ts";
import type { Support } from "./support.ts";

const gated = (gate: FeatureGateName, message: string): Support => ({ level: "experimental", gate, message });
const unsupported = (message: string): Support => ({ level: "unsupported", message });
const inConfig = (gate: FeatureGateName): Support =>
  gated(gate, `${gate} feature gate is not enabled in kubevirt-config`);

const noVideo = (type: string, architecture: string): Support =>
  unsupported(`video model '${type}' is not supported on ${architecture} architecture`);
const notOn = (what: string, architecture: string): Support =>
  unsupported(`${what} is not supported on ${architecture} architecture`);

const hypervKeys = [
  "evmcs",
  "frequencies",
  "ipi",
  "passthrough",
  "reenlightenment",
  "relaxed",
  "reset",
  "runtime",
  "spinlocks",
  "synic",
  "synictimer",
  "tlbflush",
  "vapic",
  "vendorid",
  "vpindex",
] as const;

/** Enlightenments, encryption and devices of the PC that other architectures do not have. */
function withoutPcDevices(architecture: string): Readonly<Partial<Record<FeatureKey, Support>>> {
  const security = unsupported(`No launchSecurity support for architecture: ${architecture}`);
  return {
    ...Object.fromEntries(
      hypervKeys.map((key) => [`hyperv.${key}`, notOn(`Hyper-V enlightenment ${key}`, architecture)]),
    ),
    "launch-security.sev": security,
    "launch-security.snp": security,
    "launch-security.tdx": security,
    "features.apic": notOn("the APIC", architecture),
    "features.smm": notOn("system management mode", architecture),
    "features.pvspinlock": notOn("paravirtual spinlocks", architecture),
    "clock.kvm": notOn("the kvmclock timer", architecture),
    "clock.hyperv": notOn("the Hyper-V timer", architecture),
    "clock.hpet": notOn("the HPET timer", architecture),
    "clock.pit": notOn("the PIT timer", architecture),
    "memory.hotplug": notOn("memory hotplug", architecture),
    "video.vga": noVideo("vga", architecture),
    "video.cirrus": noVideo("cirrus", architecture),
    "video.bochs": noVideo("bochs", architecture),
  };
}

export const baseOverlays: Readonly<Record<string, Readonly<Partial<Record<FeatureKey, Support>>>>> = {
  "*": {
    "volumes.hostDisk": gated("HostDisk", "HostDisk feature gate is not enabled"),
    "host-devices": gated("HostDevices", "Host Devices feature gate is not enabled in kubevirt-config"),
    vsock: inConfig("VSOCK"),
    "launch-security.sev": inConfig("WorkloadEncryptionSEV"),
    "launch-security.snp": inConfig("WorkloadEncryptionSEV"),
    "launch-security.tdx": inConfig("WorkloadEncryptionTDX"),
    "reboot-policy": gated(
      "RebootPolicy",
      "RebootPolicy is specified but the RebootPolicy feature gate is not enabled",
    ),
    "downward-metrics": inConfig("DownwardMetrics"),
    "volumes.downwardMetrics": inConfig("DownwardMetrics"),
    "disks.reservation": inConfig("PersistentReservation"),
    "disks.changed-blocks": inConfig("IncrementalBackup"),
    "panic-devices": inConfig("PanicDevices"),
    video: inConfig("VideoConfig"),
    "interfaces.passt": inConfig("PasstBinding"),
  },
  amd64: {
    "watchdog.diag288": unsupported("amd64 only supports I6300ESB watchdog device"),
  },
  arm64: {
    ...withoutPcDevices("arm64"),
    "firmware.bios": unsupported("Arm64 does not support bios boot, please change to uefi boot"),
    "firmware.secure-boot": notOn("UEFI secure boot", "arm64"),
    "cpu.hotplug": notOn("CPU hotplug", "arm64"),
    "cpu.named-model": unsupported("currently, host-passthrough is the only model supported on Arm64"),
    "cpu.host-model": unsupported("currently, host-passthrough is the only model supported on Arm64"),
    "disks.sata": unsupported("Arm64 not support this disk bus type, please use virtio or scsi"),
    "disks.usb": unsupported("Arm64 not support this disk bus type, please use virtio or scsi"),
    "watchdog.i6300esb": unsupported("Arm64 not support Watchdog device"),
    "watchdog.diag288": unsupported("Arm64 not support Watchdog device"),
    sound: unsupported("Arm64 not support sound device"),
    "panic-devices.hyperv": notOn("panic device hyperv", "arm64"),
    "panic-devices.isa": notOn("panic device isa", "arm64"),
  },
  s390x: {
    ...withoutPcDevices("s390x"),
    "features.acpi": notOn("ACPI", "s390x"),
    "firmware.acpi-tables": notOn("ACPI", "s390x"),
    "firmware.efi-persistent": notOn("UEFI", "s390x"),
    chassis: notOn("a description of the chassis", "s390x"),
    "firmware.serial": notOn("a serial number of the machine", "s390x"),
    "firmware.bios": notOn("choosing a BIOS", "s390x"),
    "firmware.efi": notOn("UEFI", "s390x"),
    "firmware.secure-boot": notOn("UEFI secure boot", "s390x"),
    "disks.sata": unsupported("s390x does not support this disk bus type, please use virtio or scsi"),
    "disks.usb": unsupported("s390x does not support this disk bus type, please use virtio or scsi"),
    "disks.pci-address": notOn("a PCI address", "s390x"),
    "interfaces.pci-address": notOn("a PCI address", "s390x"),
    "interfaces.acpi-index": notOn("an ACPI index", "s390x"),
    "virtio-transitional": notOn("the legacy interface of virtio devices", "s390x"),
    "interfaces.emulated-model": unsupported("s390x only supports network interfaces of model virtio"),
    "inputs.usb": unsupported("s390x has no USB, please use bus virtio"),
    "usb-redirection": unsupported("s390x has no USB"),
    "watchdog.i6300esb": unsupported("s390x only supports Diag288 watchdog device"),
    "video.ramfb": noVideo("ramfb", "s390x"),
    sound: notOn("a sound device", "s390x"),
    tpm: notOn("a TPM", "s390x"),
    "panic-devices": unsupported("custom panic devices are not supported on s390x architecture"),
  },
};
