// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { FeatureState } from "./features.ts";

/** Disk. */
export interface Disk {
  /** Name. */
  name: string;
  /** Block size. */
  blockSize?: BlockSize;
  /** Boot order. */
  bootOrder?: number;
  /** Cache. */
  cache?: "none" | "writethrough" | "writeback" | (string & {});
  /** Cdrom. */
  cdrom?: CDRomTarget;
  /** Changed block tracking. */
  changedBlockTracking?: boolean;
  /** Dedicated IO thread. */
  dedicatedIOThread?: boolean;
  /** Disk. */
  disk?: DiskTarget;
  /** Error policy. */
  errorPolicy?: "stop" | "ignore" | "report" | "enospace" | (string & {});
  /** Io. */
  io?: "native" | "threads" | (string & {});
  /** Lun. */
  lun?: LunTarget;
  /** Serial. */
  serial?: string;
  /** Shareable. */
  shareable?: boolean;
  /** Tag. */
  tag?: string;
}

/** Disk target. */
export interface DiskTarget {
  /** Bus. */
  bus?: "virtio" | "sata" | "scsi" | "usb" | (string & {});
  /** Pci address. */
  pciAddress?: string;
  /** Readonly. */
  readonly?: boolean;
}

/** Lun target. */
export interface LunTarget {
  /** Bus. */
  bus?: "virtio" | "sata" | "scsi" | (string & {});
  /** Readonly. */
  readonly?: boolean;
  /** Reservation. */
  reservation?: boolean;
}

/** CD rom target. */
export interface CDRomTarget {
  /** Bus. */
  bus?: "virtio" | "sata" | "scsi" | "usb" | (string & {});
  /** Readonly. */
  readonly?: boolean;
  /** Tray. */
  tray?: "open" | "closed" | (string & {});
}

/** Block size. */
export interface BlockSize {
  /** Custom. */
  custom?: CustomBlockSize;
  /** Match volume. */
  matchVolume?: FeatureState;
}

/** Custom block size. */
export interface CustomBlockSize {
  /** Discard granularity. */
  discardGranularity?: number;
  /** Logical. */
  logical?: number;
  /** Physical. */
  physical?: number;
}
