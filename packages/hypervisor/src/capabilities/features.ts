/**
 * The features whose support depends on hypervisor, architecture or gate, as data: a key, what it is, the field that asks
 * for it, and how to find that in a VMI. Documentation and `polyvirt capabilities` are made from this table.
 */
import type { VirtualMachineInstanceSpec, Volume } from "@polyvirt/api";

interface Feature<Key extends string> {
  readonly key: Key;
  readonly title: string;
  /** The field below `spec`, with `[]` for lists. */
  readonly field: string;
  /** Paths below `spec` where this VMI asks for it. */
  readonly find: (spec: VirtualMachineInstanceSpec) => readonly string[];
}

type Spec = VirtualMachineInstanceSpec;

const define = <Key extends string>(feature: Feature<Key>): Feature<Key> => feature;

/** A field that is either there or not. */
function field<Key extends string>(key: Key, title: string, path: string, uses: (spec: Spec) => boolean): Feature<Key> {
  return { key, title, field: path, find: (spec) => (uses(spec) ? [path] : []) };
}

/** Every element of a list that meets the condition. */
function each<Key extends string, Item>(
  key: Key,
  title: string,
  path: string,
  list: (spec: Spec) => readonly Item[] | undefined,
  uses: (item: Item, spec: Spec) => boolean,
): Feature<Key> {
  const [head = "", tail = ""] = path.split("[]");
  return {
    key,
    title,
    field: path,
    find: (spec) => (list(spec) ?? []).flatMap((item, index) => (uses(item, spec) ? [`${head}[${index}]${tail}`] : [])),
  };
}

const volume = <Source extends Exclude<keyof Volume, "name">>(source: Source) =>
  each(
    `volumes.${source}`,
    `Volume source ${source}`,
    "volumes[]",
    (spec) => spec.volumes,
    (item) => item[source] !== undefined,
  );

const hyperv = <Name extends keyof NonNullable<NonNullable<Spec["domain"]["features"]>["hyperv"]>>(name: Name) =>
  field(
    `hyperv.${name}`,
    `Hyper-V enlightenment ${name}`,
    `domain.features.hyperv.${name}`,
    (spec) => spec.domain.features?.hyperv?.[name] !== undefined && spec.domain.features.hyperv[name].enabled !== false,
  );

const video = <Type extends string>(type: Type) =>
  field(
    `video.${type}`,
    `Video device ${type}`,
    "domain.devices.video.type",
    (spec) => spec.domain.devices.video?.type === type,
  );

const panic = <Model extends string>(model: Model) =>
  each(
    `panic-devices.${model}`,
    `Panic device ${model}`,
    "domain.devices.panicDevices[].model",
    (spec) => spec.domain.devices.panicDevices,
    (device) => device.model === model,
  );

const diskBus = <Bus extends string>(bus: Bus) =>
  define({
    key: `disks.${bus}`,
    title: `Disk bus ${bus}`,
    field: "domain.devices.disks[].disk.bus",
    find: (spec) =>
      (spec.domain.devices.disks ?? []).flatMap((disk, index) =>
        (["disk", "cdrom", "lun"] as const)
          .filter((target) => disk[target]?.bus === bus)
          .map((target) => `domain.devices.disks[${index}].${target}.bus`),
      ),
  });

export const features = [
  field(
    "cpu.named-model",
    "CPU models by name",
    "domain.cpu.model",
    ({ domain }) => !["", "host-model", "host-passthrough"].includes(domain.cpu?.model ?? ""),
  ),
  field(
    "cpu.host-model",
    "CPU model host-model",
    "domain.cpu.model",
    ({ domain }) => domain.cpu?.model === "host-model",
  ),
  field(
    "cpu.host-passthrough",
    "CPU model host-passthrough",
    "domain.cpu.model",
    ({ domain }) => domain.cpu?.model === "host-passthrough",
  ),
  field(
    "memory.hotplug",
    "Memory hotplug",
    "domain.memory.maxGuest",
    ({ domain }) => domain.memory?.maxGuest !== undefined && domain.memory.maxGuest !== domain.memory.guest,
  ),
  field(
    "firmware.bios",
    "Boot by BIOS",
    "domain.firmware.bootloader.bios",
    ({ domain }) => domain.firmware?.bootloader?.bios !== undefined,
  ),
  field(
    "firmware.efi",
    "Boot by UEFI",
    "domain.firmware.bootloader.efi",
    ({ domain }) => domain.firmware?.bootloader?.efi !== undefined,
  ),
  field(
    "firmware.secure-boot",
    "UEFI secure boot",
    "domain.firmware.bootloader.efi.secureBoot",
    ({ domain }) => domain.firmware?.bootloader?.efi?.secureBoot === true,
  ),
  field(
    "firmware.efi-persistent",
    "UEFI variables kept across restarts",
    "domain.firmware.bootloader.efi.persistent",
    ({ domain }) => domain.firmware?.bootloader?.efi?.persistent === true,
  ),
  field(
    "features.acpi",
    "ACPI",
    "domain.features.acpi",
    ({ domain }) => domain.features?.acpi !== undefined && domain.features.acpi.enabled !== false,
  ),
  field(
    "features.apic",
    "APIC",
    "domain.features.apic",
    ({ domain }) => domain.features?.apic !== undefined && domain.features.apic.enabled !== false,
  ),
  field(
    "features.smm",
    "System management mode",
    "domain.features.smm",
    ({ domain }) => domain.features?.smm !== undefined && domain.features.smm.enabled !== false,
  ),
  field(
    "features.kvm",
    "Hidden KVM signature",
    "domain.features.kvm",
    ({ domain }) => domain.features?.kvm?.hidden === true,
  ),
  field(
    "features.pvspinlock",
    "Paravirtual spinlocks",
    "domain.features.pvspinlock",
    ({ domain }) => domain.features?.pvspinlock !== undefined,
  ),
  field(
    "hyperv.passthrough",
    "All Hyper-V enlightenments of the host",
    "domain.features.hypervPassthrough",
    ({ domain }) =>
      domain.features?.hypervPassthrough !== undefined && domain.features.hypervPassthrough.enabled !== false,
  ),
  hyperv("evmcs"),
  hyperv("frequencies"),
  hyperv("ipi"),
  hyperv("reenlightenment"),
  hyperv("relaxed"),
  hyperv("reset"),
  hyperv("runtime"),
  hyperv("spinlocks"),
  hyperv("synic"),
  hyperv("synictimer"),
  hyperv("tlbflush"),
  hyperv("vapic"),
  hyperv("vendorid"),
  hyperv("vpindex"),
  field(
    "clock.kvm",
    "Timer kvmclock",
    "domain.clock.timer.kvm",
    ({ domain }) => domain.clock?.timer?.kvm !== undefined && domain.clock.timer.kvm.present !== false,
  ),
  field(
    "clock.hyperv",
    "Timer of Hyper-V",
    "domain.clock.timer.hyperv",
    ({ domain }) => domain.clock?.timer?.hyperv !== undefined && domain.clock.timer.hyperv.present !== false,
  ),
  field(
    "clock.hpet",
    "Timer HPET",
    "domain.clock.timer.hpet",
    ({ domain }) => domain.clock?.timer?.hpet !== undefined && domain.clock.timer.hpet.present !== false,
  ),
  field(
    "clock.pit",
    "Timer PIT",
    "domain.clock.timer.pit",
    ({ domain }) => domain.clock?.timer?.pit !== undefined && domain.clock.timer.pit.present !== false,
  ),
  field(
    "launch-security.sev",
    "AMD SEV",
    "domain.launchSecurity.sev",
    ({ domain }) => domain.launchSecurity?.sev !== undefined,
  ),
  field(
    "launch-security.snp",
    "AMD SEV-SNP",
    "domain.launchSecurity.snp",
    ({ domain }) => domain.launchSecurity?.snp !== undefined,
  ),
  field(
    "launch-security.tdx",
    "Intel TDX",
    "domain.launchSecurity.tdx",
    ({ domain }) => domain.launchSecurity?.tdx !== undefined,
  ),
  field(
    "watchdog.i6300esb",
    "Watchdog i6300esb",
    "domain.devices.watchdog",
    ({ domain }) => domain.devices.watchdog?.i6300esb !== undefined,
  ),
  field(
    "watchdog.diag288",
    "Watchdog diag288",
    "domain.devices.watchdog",
    ({ domain }) => domain.devices.watchdog?.diag288 !== undefined,
  ),
  field("sound", "Sound device", "domain.devices.sound", ({ domain }) => domain.devices.sound !== undefined),
  field(
    "tpm",
    "Emulated TPM",
    "domain.devices.tpm",
    ({ domain }) => domain.devices.tpm !== undefined && domain.devices.tpm.enabled !== false,
  ),
  field(
    "tpm.persistent",
    "TPM state kept across restarts",
    "domain.devices.tpm.persistent",
    ({ domain }) => domain.devices.tpm?.persistent === true,
  ),
  field(
    "vsock",
    "VSOCK device",
    "domain.devices.autoattachVSOCK",
    ({ domain }) => domain.devices.autoattachVSOCK === true,
  ),
  field(
    "usb-redirection",
    "USB devices of the client",
    "domain.devices.clientPassthrough",
    ({ domain }) => domain.devices.clientPassthrough !== undefined,
  ),
  field(
    "downward-metrics",
    "Downward metrics channel",
    "domain.devices.downwardMetrics",
    ({ domain }) => domain.devices.downwardMetrics !== undefined,
  ),
  field("reboot-policy", "Reboot policy", "domain.rebootPolicy", ({ domain }) => domain.rebootPolicy !== undefined),
  field(
    "video",
    "Choice of the video device",
    "domain.devices.video",
    ({ domain }) => domain.devices.video !== undefined,
  ),
  video("vga"),
  video("cirrus"),
  video("bochs"),
  video("virtio"),
  video("ramfb"),
  each(
    "panic-devices",
    "Panic devices",
    "domain.devices.panicDevices[]",
    ({ domain }) => domain.devices.panicDevices,
    () => true,
  ),
  panic("hyperv"),
  panic("isa"),
  panic("pvpanic"),
  diskBus("sata"),
  diskBus("scsi"),
  diskBus("usb"),
  diskBus("virtio"),
  each(
    "disks.reservation",
    "SCSI persistent reservation",
    "domain.devices.disks[].lun.reservation",
    ({ domain }) => domain.devices.disks,
    (disk) => disk.lun?.reservation === true,
  ),
  each(
    "disks.pci-address",
    "Chosen PCI address of a disk",
    "domain.devices.disks[].disk.pciAddress",
    ({ domain }) => domain.devices.disks,
    (disk) => Boolean(disk.disk?.pciAddress),
  ),
  each(
    "disks.changed-blocks",
    "Changed block tracking",
    "domain.devices.disks[].changedBlockTracking",
    ({ domain }) => domain.devices.disks,
    (disk) => disk.changedBlockTracking === true,
  ),
  each(
    "inputs.usb",
    "USB input device",
    "domain.devices.inputs[].bus",
    ({ domain }) => domain.devices.inputs,
    (input) => input.bus === "usb",
  ),
  each(
    "host-devices",
    "Devices of the node",
    "domain.devices.hostDevices[]",
    ({ domain }) => domain.devices.hostDevices,
    () => true,
  ),
  each(
    "gpus",
    "GPUs of the node",
    "domain.devices.gpus[]",
    ({ domain }) => domain.devices.gpus,
    () => true,
  ),
  each(
    "host-devices.mediated",
    "Mediated devices with a display",
    "domain.devices.gpus[].virtualGPUOptions",
    ({ domain }) => domain.devices.gpus,
    (gpu) => gpu.virtualGPUOptions !== undefined,
  ),
  each(
    "filesystems",
    "Shared folders (virtiofs)",
    "domain.devices.filesystems[]",
    ({ domain }) => domain.devices.filesystems,
    () => true,
  ),
  each(
    "interfaces.passt",
    "Network by passt",
    "domain.devices.interfaces[].passtBinding",
    ({ domain }) => domain.devices.interfaces,
    (iface) => iface.passtBinding !== undefined,
  ),
  each(
    "interfaces.sriov",
    "Network by SR-IOV",
    "domain.devices.interfaces[].sriov",
    ({ domain }) => domain.devices.interfaces,
    (iface) => iface.sriov !== undefined,
  ),
  each(
    "interfaces.pci-address",
    "Chosen PCI address of an interface",
    "domain.devices.interfaces[].pciAddress",
    ({ domain }) => domain.devices.interfaces,
    (iface) => Boolean(iface.pciAddress),
  ),
  each(
    "interfaces.emulated-model",
    "Emulated network adapters",
    "domain.devices.interfaces[].model",
    ({ domain }) => domain.devices.interfaces,
    (iface) => !["", "virtio"].includes(iface.model ?? ""),
  ),
  volume("cloudInitConfigDrive"),
  volume("cloudInitNoCloud"),
  volume("configMap"),
  volume("containerDisk"),
  volume("containerPath"),
  volume("dataVolume"),
  volume("downwardAPI"),
  volume("downwardMetrics"),
  volume("emptyDisk"),
  volume("ephemeral"),
  volume("hostDisk"),
  volume("memoryDump"),
  volume("persistentVolumeClaim"),
  volume("secret"),
  volume("serviceAccount"),
  volume("sysprep"),
  each(
    "utility-volumes",
    "Utility volumes",
    "utilityVolumes[]",
    (spec) => spec.utilityVolumes,
    () => true,
  ),
  each(
    "access-credentials",
    "Access credentials",
    "accessCredentials[]",
    (spec) => spec.accessCredentials,
    () => true,
  ),
  each(
    "resource-claims",
    "Claims of dynamic resources",
    "resourceClaims[]",
    (spec) => spec.resourceClaims,
    () => true,
  ),
  each(
    "networks.multus",
    "Networks by Multus",
    "networks[].multus",
    (spec) => spec.networks,
    (network) => network.multus !== undefined,
  ),
  each(
    "networks.resource-claim",
    "Networks by resource claim",
    "networks[].resourceClaim",
    (spec) => spec.networks,
    (network) => network.resourceClaim !== undefined,
  ),
] as const;

export type FeatureKey = (typeof features)[number]["key"];
