import { isHotpluggable, type VirtualMachineInstance } from "@polyvirt/api";
import type { VolumeLocation } from "@polyvirt/hypervisor";
import { errors } from "../errors.ts";
import { isOnlyShared } from "../machine/shared-folders.ts";
import { prepareCloudInit, prepareFileVolume } from "./file-volume.ts";
import {
  prepareClaim,
  prepareContainerDisk,
  prepareEmptyDisk,
  prepareEphemeral,
  prepareHostDisk,
  prepareHotplugDisk,
} from "./storage-volume.ts";
import type { Volume, VolumeRequest } from "./volume-request.ts";

type Preparer = (request: VolumeRequest) => Promise<VolumeLocation>;

/** How each kind of volume becomes a disk. What is not here is refused. */
const preparers: Readonly<Partial<Record<keyof Volume, Preparer>>> = {
  containerDisk: prepareContainerDisk,
  emptyDisk: prepareEmptyDisk,
  ephemeral: prepareEphemeral,
  hostDisk: prepareHostDisk,
  persistentVolumeClaim: prepareClaim,
  dataVolume: prepareClaim,
  cloudInitNoCloud: (request) => prepareCloudInit(request, "cloudInitNoCloud"),
  cloudInitConfigDrive: (request) => prepareCloudInit(request, "cloudInitConfigDrive"),
  configMap: (request) => prepareFileVolume(request, "configMap"),
  secret: (request) => prepareFileVolume(request, "secret"),
  downwardAPI: (request) => prepareFileVolume(request, "downwardAPI"),
  serviceAccount: (request) => prepareFileVolume(request, "serviceAccount"),
  sysprep: (request) => prepareFileVolume(request, "sysprep"),
};

/** Makes every volume of the VMI ready. Repeating it keeps the disks that are there, and what the guest wrote to them. */
export async function prepareVolumes(
  vmi: VirtualMachineInstance,
  dependencies: Pick<VolumeRequest, "paths" | "images" | "guard">,
): Promise<Record<string, VolumeLocation>> {
  const prepared: [string, VolumeLocation][] = [];
  for (const [index, volume] of (vmi.spec.volumes ?? []).entries()) {
    if (isOnlyShared(vmi, volume.name)) continue;
    const kind = Object.keys(volume).find((key) => key !== "name") ?? "unknown";
    const field = `spec.volumes[${index}].${kind}`;
    // Keys of the volume are the names of its sources.
    const prepare = isHotpluggable(volume) ? prepareHotplugDisk : preparers[kind as keyof Volume];
    if (prepare === undefined) {
      throw errors.LauncherVolumeUnsupported(
        `prepare volume ${volume.name}: ${field} is not supported by this launcher`,
        { fields: { field } },
      );
    }
    prepared.push([volume.name, await prepare({ vmi, volume, field, ...dependencies })]);
  }
  return Object.fromEntries(prepared);
}
