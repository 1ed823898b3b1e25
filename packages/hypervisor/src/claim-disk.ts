import type { PersistentVolumeClaimInfo } from "@polyvirt/api";
import { bytesOf } from "./quantity.ts";

/** Part of a claim that a file system needs for itself, and the unit in which disks are made. */
const fileSystemShare = 0.06;
const mebibyte = 1024 ** 2;

/** How large a disk image in this claim may be; 0 when nobody has told yet. */
export function claimDiskBytes(info: PersistentVolumeClaimInfo | undefined): number {
  const bytes = bytesOf(info?.capacity?.["storage"] ?? info?.requests?.["storage"]);
  return Math.floor((bytes * (1 - fileSystemShare)) / mebibyte) * mebibyte;
}
