import * as fs from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename } from "node:path";
import { parseQuantity, quantityToInteger } from "@polyvirt/core";
import { claimDiskBytes, type VolumeLocation } from "@polyvirt/hypervisor";
import { checkImage, onlyFileIn, type CheckedImage } from "./image-file.ts";
import type { VolumeRequest } from "./volume-request.ts";

/** A disk of an OCI image: the image stays as it is, the guest writes into a layer above it. */
export async function prepareContainerDisk(request: VolumeRequest): Promise<VolumeLocation> {
  const { volume, field, paths } = request;
  const mount = `${paths.containerDisks}/${volume.name}`;
  const given = volume.containerDisk?.path ?? "";
  const relative = given === "" ? onlyFileIn(mount, "disk", field) : given.replace(/^\/+/, "");
  return overlay(request, checkImage(mount, relative, field), "file");
}

export async function prepareEmptyDisk({ volume, paths, images }: VolumeRequest): Promise<VolumeLocation> {
  const path = `${paths.ephemeralDisks}/empty-disks/${volume.name}.qcow2`;
  if (!fs.existsSync(path)) {
    await mkdir(`${paths.ephemeralDisks}/empty-disks`, { recursive: true });
    await images.makeEmpty(path, bytesOf(volume.emptyDisk?.capacity));
  }
  return { kind: "file", path, format: "qcow2" };
}

/** A claim is a block device in /dev, or a file system with one raw image in it, which a new claim gets here. */
export async function prepareClaim({ vmi, volume, field, paths, guard }: VolumeRequest): Promise<VolumeLocation> {
  const device = `${paths.devices}/${volume.name}`;
  if (fs.statSync(device, { throwIfNoEntry: false })?.isBlockDevice() === true) {
    return { kind: "block", path: device, format: "raw" };
  }
  const mount = `${paths.private}/vmi-disks/${volume.name}`;
  const known = vmi.status?.volumeStatus?.find(({ name }) => name === volume.name);
  const capacity = claimDiskBytes(known?.persistentVolumeClaimInfo);
  if (volume.ephemeral === undefined && capacity > 0) makeSparse(`${mount}/disk.img`, capacity);
  // A claim's image is always raw, whatever its bytes say: the guest may have written a qcow2 header into it.
  const path = guard.hold(mount, "disk.img", field);
  return { kind: "file", path, format: "raw" };
}

/** The disk of a volume that comes and goes, as the node agent shows it: a device, or the image of a claim. */
export async function prepareHotplugDisk({ volume, field, paths, guard }: VolumeRequest): Promise<VolumeLocation> {
  const device = `${paths.hotplugDisks}/${volume.name}`;
  const shared = { format: "raw", hotplugged: true, ...readOnly(volume) } as const;
  if (fs.statSync(device, { throwIfNoEntry: false })?.isBlockDevice() === true) {
    return { kind: "block", path: device, ...shared };
  }
  return { kind: "file", path: guard.hold(paths.hotplugDisks, `${volume.name}.img`, field), ...shared };
}

function readOnly({ persistentVolumeClaim }: VolumeRequest["volume"]): Pick<VolumeLocation, "readonly"> {
  return persistentVolumeClaim?.readOnly === true ? { readonly: true } : {};
}

/** A claim that the guest must not change: it writes into a layer that goes with the pod. */
export async function prepareEphemeral(request: VolumeRequest): Promise<VolumeLocation> {
  const { path, kind } = await prepareClaim(request);
  const virtualBytes = BigInt(kind === "block" ? sizeOfDevice(path) : fs.statSync(path).size);
  return overlay(request, { path, format: "raw", virtualBytes }, kind);
}

/** A file of the node, whose folder is mounted into the pod; made as a sparse file when the VMI allows that. */
export async function prepareHostDisk({ volume, field, paths, guard }: VolumeRequest): Promise<VolumeLocation> {
  const mount = `${paths.private}/vmi-disks/${volume.name}`;
  const name = basename(volume.hostDisk?.path ?? "");
  if (volume.hostDisk?.type === "DiskOrCreate")
    makeSparse(`${mount}/${name}`, Number(bytesOf(volume.hostDisk.capacity)));
  return { kind: "file", path: guard.hold(mount, name, field), format: "raw" };
}

/** A file of holes, unless something has that name already. */
function makeSparse(path: string, bytes: number): void {
  if (fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const fd = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL, 0o600);
  try {
    fs.ftruncateSync(fd, bytes);
  } finally {
    fs.closeSync(fd);
  }
}

async function overlay(
  { volume, paths, images }: VolumeRequest,
  backing: CheckedImage,
  kind: "file" | "block",
): Promise<VolumeLocation> {
  const directory = `${paths.ephemeralDisks}/disk-data/${volume.name}`;
  const path = `${directory}/disk.qcow2`;
  if (!fs.existsSync(path)) {
    await mkdir(directory, { recursive: true });
    await images.makeOverlay(path, backing);
  }
  return { kind: "file", path, format: "qcow2", backing: { kind, path: backing.path, format: backing.format } };
}

/** A device's inode has no size; the kernel tells it in sectors of 512 bytes. */
function sizeOfDevice(path: string): number {
  const { rdev } = fs.statSync(path);
  const numbers = `${(rdev >> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >> 12) & 0xfff00)}`;
  return Number(fs.readFileSync(`/sys/dev/block/${numbers}/size`, "utf8")) * 512;
}

function bytesOf(capacity: string | number | undefined): bigint {
  return quantityToInteger(parseQuantity(String(capacity ?? "0")));
}
