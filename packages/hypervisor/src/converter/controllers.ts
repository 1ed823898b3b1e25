import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DomainController } from "@polyvirt/domain";
import type { ArchitectureProfile } from "../arch/index.ts";
import type { Configurator } from "../contract.ts";
import { busOf } from "./disk-target.ts";
import { hasIoThreads } from "./io-threads.ts";
import { guestProfile, virtioModel } from "./profile.ts";

const disablePciHole64 = "kubevirt.io/disablePCIHole64";

/** The buses that devices sit on and that libvirt would not choose as we do. */
export const controllers: Configurator = {
  name: "controllers",
  configure(domain, vmi, context) {
    const profile = guestProfile(vmi, context);
    domain.devices.controllers = [
      ...usb(vmi, profile),
      ...scsi(vmi, profile),
      ...pciRoot(vmi, profile),
      ...virtioSerial(vmi, profile),
    ];
  },
};

function usb(vmi: VirtualMachineInstance, profile: ArchitectureProfile): DomainController[] {
  if (profile.usb === "never") return [{ type: "usb", index: 0, model: "none" }];
  const { devices } = vmi.spec.domain;
  const needed =
    profile.usb === "always" ||
    (devices.inputs ?? []).some(({ bus }) => (bus || "usb") === "usb") ||
    (devices.disks ?? []).some((disk) => busOf(disk) === "usb") ||
    devices.clientPassthrough !== undefined ||
    (devices.hostDevices ?? []).length > 0;
  return [{ type: "usb", index: 0, model: needed ? "qemu-xhci" : "none" }];
}

/** One SCSI controller is always there so that disks can be attached later, unless the VMI rules that out. */
function scsi(vmi: VirtualMachineInstance, profile: ArchitectureProfile): DomainController[] {
  const { devices } = vmi.spec.domain;
  const used = (devices.disks ?? []).some((disk) => busOf(disk) === "scsi");
  if (devices.disableHotplug === true && !used) return [];
  const { modern, transitional } = profile.scsiModel;
  return [
    {
      type: "scsi",
      index: 0,
      model: devices.useVirtioTransitional === true ? transitional : modern,
      driver: hasIoThreads(vmi) ? { iothread: 1 } : undefined,
    },
  ];
}

function pciRoot({ metadata }: VirtualMachineInstance, profile: ArchitectureProfile): DomainController[] {
  if (!profile.pci || metadata.annotations?.[disablePciHole64] !== "true") return [];
  return [{ type: "pci", index: 0, model: "pcie-root", pcihole64: { value: 0, unit: "KiB" } }];
}

/** The guest agent's channel needs it even where the serial console is off. */
function virtioSerial(vmi: VirtualMachineInstance, profile: ArchitectureProfile): DomainController[] {
  return [{ type: "virtio-serial", index: 0, model: virtioModel(vmi, profile) }];
}
