import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DefaultsContext } from "../contract.ts";
import { isUnset } from "./step.ts";

/** The guest's identity: it stays when the guest is restarted or moved. */
export function setFirmwareUuid(draft: VirtualMachineInstance, { randomUuid }: DefaultsContext): void {
  const { domain } = draft.spec;
  if (isUnset(domain.firmware?.uuid)) domain.firmware = { ...domain.firmware, uuid: randomUuid() };
}

/**
 * Architectures without a BIOS boot by UEFI; secure boot is the user's choice. A guest that brings its kernel along needs no
 * firmware to find one, and is up several times faster without.
 */
export function setEfiBootloader(draft: VirtualMachineInstance): void {
  const { domain } = draft.spec;
  if (domain.firmware?.bootloader !== undefined || domain.firmware?.kernelBoot?.container?.kernelPath) return;
  domain.firmware = { ...domain.firmware, bootloader: { efi: { secureBoot: false } } };
}
