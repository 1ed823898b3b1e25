import * as fs from "node:fs";
import { mkdir } from "node:fs/promises";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { parseQuantity, quantityToInteger } from "@polyvirt/core";
import type { VolumeLocation } from "@polyvirt/hypervisor";
import { errors } from "../errors.ts";
import type { LauncherPaths } from "../launcher-paths.ts";
import { checkImage, onlyFileIn } from "./image-file.ts";
import type { ImageMaker } from "./qemu-img.ts";

type Volume = NonNullable<VirtualMachineInstance["spec"]["volumes"]>[number];

interface VolumeDependencies {
  readonly paths: LauncherPaths;
  readonly images: ImageMaker;
}

type Preparer = (volume: Volume, field: string, dependencies: VolumeDependencies) => Promise<VolumeLocation>;

/** How each kind of volume becomes a disk. What is not here is refused. */
const preparers: Readonly<Partial<Record<keyof Volume, Preparer>>> = {
  containerDisk: prepareContainerDisk,
  emptyDisk: prepareEmptyDisk,
  persistentVolumeClaim: prepareClaim,
  dataVolume: prepareClaim,
};

/** Makes every volume of the VMI ready. Repeating it keeps the disks that are there, and what the guest wrote to them. */
export async function prepareVolumes(
  vmi: VirtualMachineInstance,
  dependencies: VolumeDependencies,
): Promise<Record<string, VolumeLocation>> {
  const prepared: [string, VolumeLocation][] = [];
  for (const [index, volume] of (vmi.spec.volumes ?? []).entries()) {
    const kind = Object.keys(volume).find((key) => key !== "name") ?? "unknown";
    const field = `spec.volumes[${index}].${kind}`;
    // Keys of the volume are the names of its sources.
    const prepare = preparers[kind as keyof Volume];
    if (prepare === undefined) {
      throw errors.LauncherVolumeUnsupported(
        `prepare volume ${volume.name}: ${field} is not supported by this launcher`,
        {
          fields: { field },
        },
      );
    }
    prepared.push([volume.name, await prepare(volume, field, dependencies)]);
  }
  return Object.fromEntries(prepared);
}

async function prepareContainerDisk(
  volume: Volume,
  field: string,
  { paths, images }: VolumeDependencies,
): Promise<VolumeLocation> {
  const mount = `${paths.containerDisks}/${volume.name}`;
  const given = volume.containerDisk?.path ?? "";
  const relative = given === "" ? onlyFileIn(mount, "disk", field) : given.replace(/^\/+/, "");
  const backing = checkImage(mount, relative, field);
  const directory = `${paths.ephemeralDisks}/disk-data/${volume.name}`;
  const path = `${directory}/disk.qcow2`;
  if (!fs.existsSync(path)) {
    await mkdir(directory, { recursive: true });
    await images.makeOverlay(path, backing);
  }
  return { kind: "file", path, format: "qcow2", backing: { kind: "file", path: backing.path, format: backing.format } };
}

async function prepareEmptyDisk(
  volume: Volume,
  _field: string,
  { paths, images }: VolumeDependencies,
): Promise<VolumeLocation> {
  const path = `${paths.ephemeralDisks}/empty-disks/${volume.name}.qcow2`;
  if (!fs.existsSync(path)) {
    await mkdir(`${paths.ephemeralDisks}/empty-disks`, { recursive: true });
    await images.makeEmpty(path, quantityToInteger(parseQuantity(String(volume.emptyDisk?.capacity ?? "0"))));
  }
  return { kind: "file", path, format: "qcow2" };
}

/** A claim is a block device in /dev, or a file system with one raw image in it. */
async function prepareClaim(volume: Volume, field: string, { paths }: VolumeDependencies): Promise<VolumeLocation> {
  const device = `${paths.devices}/${volume.name}`;
  if (fs.statSync(device, { throwIfNoEntry: false })?.isBlockDevice() === true) {
    return { kind: "block", path: device, format: "raw" };
  }
  // A claim's image is always raw, whatever its bytes say: the guest may have written a qcow2 header into it.
  const mount = `${paths.private}/vmi-disks/${volume.name}`;
  const path = `${mount}/disk.img`;
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw errors.LauncherImageRefused(`prepare volume ${volume.name}: the claim has no regular file disk.img`, {
      fields: { field },
    });
  }
  return { kind: "file", path, format: "raw" };
}
