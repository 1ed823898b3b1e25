// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { KernelBoot } from "./kernel-boot.ts";

/** How a guest starts. */
export interface Firmware {
  /** ACPI tables that the guest gets. */
  acpi?: ACPI;
  /** Firmware that the guest starts with; BIOS on x86-64 when unset. */
  bootloader?: Bootloader;
  /** Start a kernel from a container image instead of a disk. */
  kernelBoot?: KernelBoot;
  /** Serial number of the system. */
  serial?: string;
  /** UUID of the system; derived from the machine when unset. */
  uuid?: string;
}

/** ACPI tables of a guest, from volumes of the machine. */
export interface ACPI {
  /** Volume with the Windows licence key table (MSDM). */
  msdmNameRef?: string;
  /** Volume with the software licensing table (SLIC). */
  slicNameRef?: string;
}

/** Firmware of a guest. One of its fields is set. */
export interface Bootloader {
  /** BIOS. */
  bios?: BIOS;
  /** UEFI. */
  efi?: EFI;
}

/** BIOS firmware. */
export interface BIOS {
  /** Print on the serial console. */
  useSerial?: boolean;
}

/** UEFI firmware. */
export interface EFI {
  /** Its variables outlive the guest. */
  persistent?: boolean;
  /** Start signed software only; true when unset. Needs features.smm. */
  secureBoot?: boolean;
}
