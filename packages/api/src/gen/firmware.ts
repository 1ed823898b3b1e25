// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { KernelBoot } from "./kernel-boot.ts";

/** Firmware. */
export interface Firmware {
  /** Acpi. */
  acpi?: ACPI;
  /** Bootloader. */
  bootloader?: Bootloader;
  /** Kernel boot. */
  kernelBoot?: KernelBoot;
  /** Serial. */
  serial?: string;
  /** Uuid. */
  uuid?: string;
}

/** ACPI. */
export interface ACPI {
  /** Msdm name ref. */
  msdmNameRef?: string;
  /** Slic name ref. */
  slicNameRef?: string;
}

/** Bootloader. */
export interface Bootloader {
  /** Bios. */
  bios?: BIOS;
  /** Efi. */
  efi?: EFI;
}

/** BIOS. */
export interface BIOS {
  /** Use serial. */
  useSerial?: boolean;
}

/** EFI. */
export interface EFI {
  /** Persistent. */
  persistent?: boolean;
  /** Secure boot. */
  secureBoot?: boolean;
}
