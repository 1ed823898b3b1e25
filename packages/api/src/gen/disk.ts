// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { FeatureState } from "./features.ts";

/** A disk as the guest sees it. One of disk, lun and cdrom says what kind; a plain disk when none does. */
export interface Disk {
  /** Volume that backs it. */
  name: string;
  /** Block sizes that the guest sees. */
  blockSize?: BlockSize;
  /** Place in the order in which devices are tried at the start; from 1. */
  bootOrder?: number;
  /** How the node caches it. */
  cache?: "none" | "writethrough" | "writeback" | (string & {});
  /** It is a CD drive. */
  cdrom?: CDRomTarget;
  /** Track changed blocks for incremental backup. */
  changedBlockTracking?: boolean;
  /** Give it a thread of its own. */
  dedicatedIOThread?: boolean;
  /** It is a plain disk. */
  disk?: DiskTarget;
  /** What happens when reading or writing fails. */
  errorPolicy?: "stop" | "ignore" | "report" | "enospace" | (string & {});
  /** How the node reads and writes it. */
  io?: "native" | "threads" | (string & {});
  /** It is passed on to the guest with its SCSI commands. */
  lun?: LunTarget;
  /** Serial number that the guest sees. */
  serial?: string;
  /** Several guests may write to it at a time. */
  shareable?: boolean;
  /** Name that cloud-init tells the guest. */
  tag?: string;
}

/** A plain disk. */
export interface DiskTarget {
  /** Bus that it is on. */
  bus?: "virtio" | "sata" | "scsi" | "usb" | (string & {});
  /** PCI address that it gets, for example 0000:81:01.0. */
  pciAddress?: string;
  /** The guest cannot write to it. */
  readonly?: boolean;
}

/** A disk that is passed on with its SCSI commands. */
export interface LunTarget {
  /** Bus that it is on. */
  bus?: "virtio" | "sata" | "scsi" | (string & {});
  /** The guest cannot write to it. */
  readonly?: boolean;
  /** The guest may use SCSI persistent reservations. */
  reservation?: boolean;
}

/** A CD drive. */
export interface CDRomTarget {
  /** Bus that it is on. */
  bus?: "virtio" | "sata" | "scsi" | "usb" | (string & {});
  /** The guest cannot write to it; true when unset. */
  readonly?: boolean;
  /** State of the tray at the start. */
  tray?: "open" | "closed" | (string & {});
}

/** Block sizes that a guest sees. One of its fields is set. */
export interface BlockSize {
  /** These sizes. */
  custom?: CustomBlockSize;
  /** The sizes of the volume. */
  matchVolume?: FeatureState;
}

/** Block sizes in bytes. */
export interface CustomBlockSize {
  /** Smallest unit that can be freed. */
  discardGranularity?: number;
  /** Smallest unit that can be addressed. */
  logical?: number;
  /** Smallest unit that is written at once. */
  physical?: number;
}
