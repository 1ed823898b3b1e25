import type { FeatureHyperv, Timer } from "@polyvirt/api";
import { field, isOn } from "./feature.ts";

const hyperv = <Name extends keyof FeatureHyperv>(name: Name) =>
  field(`hyperv.${name}`, `Hyper-V enlightenment ${name}`, `domain.features.hyperv.${name}`, ({ domain }) =>
    isOn(domain.features?.hyperv?.[name]),
  );

const timer = <Name extends keyof Timer>(name: Name, title: string) =>
  field(`clock.${name}`, title, `domain.clock.timer.${name}`, ({ domain }) => {
    const given = domain.clock?.timer?.[name];
    return given !== undefined && given.present !== false;
  });

/** CPU, memory, firmware, features and clock. */
export const computeFeatures = [
  field("cpu.named-model", "CPU models by name", "domain.cpu.model", ({ domain }) => {
    return !["", "host-model", "host-passthrough"].includes(domain.cpu?.model ?? "");
  }),
  field("cpu.host-model", "CPU model host-model", "domain.cpu.model", ({ domain }) => {
    return domain.cpu?.model === "host-model";
  }),
  field("cpu.host-passthrough", "CPU model host-passthrough", "domain.cpu.model", ({ domain }) => {
    return domain.cpu?.model === "host-passthrough";
  }),
  field("cpu.dedicated", "Dedicated CPUs", "domain.cpu.dedicatedCpuPlacement", ({ domain }) => {
    return domain.cpu?.dedicatedCpuPlacement === true;
  }),
  field("cpu.hotplug", "CPU hotplug", "domain.cpu.maxSockets", ({ domain: { cpu } }) => {
    return (cpu?.maxSockets ?? 0) > (cpu?.sockets || 1);
  }),
  field("memory.hotplug", "Memory hotplug", "domain.memory.maxGuest", ({ domain: { memory } }) => {
    return memory?.maxGuest !== undefined && memory.maxGuest !== memory.guest;
  }),
  field("firmware.bios", "Boot by BIOS", "domain.firmware.bootloader.bios", ({ domain }) => {
    return domain.firmware?.bootloader?.bios !== undefined;
  }),
  field("firmware.efi", "Boot by UEFI", "domain.firmware.bootloader.efi", ({ domain }) => {
    return domain.firmware?.bootloader?.efi !== undefined;
  }),
  field("firmware.secure-boot", "UEFI secure boot", "domain.firmware.bootloader.efi.secureBoot", ({ domain }) => {
    const efi = domain.firmware?.bootloader?.efi;
    return efi !== undefined && efi.secureBoot !== false;
  }),
  field(
    "firmware.efi-persistent",
    "UEFI variables kept across restarts",
    "domain.firmware.bootloader.efi.persistent",
    ({ domain }) => domain.firmware?.bootloader?.efi?.persistent === true,
  ),
  field("firmware.serial", "Serial number of the machine", "domain.firmware.serial", ({ domain }) => {
    return Boolean(domain.firmware?.serial);
  }),
  field("chassis", "Description of the chassis", "domain.chassis", ({ domain }) => {
    return Object.values(domain.chassis ?? {}).some(Boolean);
  }),
  field("firmware.acpi-tables", "ACPI tables from a volume", "domain.firmware.acpi", ({ domain }) => {
    return Boolean(domain.firmware?.acpi?.slicNameRef ?? domain.firmware?.acpi?.msdmNameRef);
  }),
  field("features.acpi", "ACPI", "domain.features.acpi", ({ domain }) => isOn(domain.features?.acpi)),
  field("features.apic", "APIC", "domain.features.apic", ({ domain }) => isOn(domain.features?.apic)),
  field("features.smm", "System management mode", "domain.features.smm", ({ domain }) => isOn(domain.features?.smm)),
  field("features.kvm", "Hidden KVM signature", "domain.features.kvm", ({ domain }) => {
    return domain.features?.kvm?.hidden === true;
  }),
  field("features.pvspinlock", "Paravirtual spinlocks", "domain.features.pvspinlock", ({ domain }) => {
    return domain.features?.pvspinlock !== undefined;
  }),
  field(
    "hyperv.passthrough",
    "All Hyper-V enlightenments of the host",
    "domain.features.hypervPassthrough",
    ({ domain }) => isOn(domain.features?.hypervPassthrough),
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
  timer("kvm", "Timer kvmclock"),
  timer("hyperv", "Timer of Hyper-V"),
  timer("hpet", "Timer HPET"),
  timer("pit", "Timer PIT"),
  field("launch-security.sev", "AMD SEV", "domain.launchSecurity.sev", ({ domain }) => {
    return domain.launchSecurity?.sev !== undefined;
  }),
  field("launch-security.snp", "AMD SEV-SNP", "domain.launchSecurity.snp", ({ domain }) => {
    return domain.launchSecurity?.snp !== undefined;
  }),
  field("launch-security.tdx", "Intel TDX", "domain.launchSecurity.tdx", ({ domain }) => {
    return domain.launchSecurity?.tdx !== undefined;
  }),
  field("reboot-policy", "Reboot policy", "domain.rebootPolicy", ({ domain }) => Boolean(domain.rebootPolicy)),
] as const;
