import {
  claimOf,
  isHotpluggable,
  virtualMachineInstances,
  type AddVolumeOptions,
  type Disk,
  type RemoveVolumeOptions,
  type VirtualMachineInstance,
  type Volume,
} from "@polyvirt/api";
import { hasCode, isJsonObject, jsonEqual } from "@polyvirt/core";
import { KubeStatusError, type KubeClient } from "@polyvirt/kube";
import { Refusal } from "../server/status.ts";

/** What a request makes of the VMI's volumes and disks. */
export interface VolumeChange {
  readonly volumes: readonly Volume[];
  readonly disks: readonly Disk[];
}

type Change = (vmi: VirtualMachineInstance, options: unknown) => VolumeChange;

const changes: Readonly<Record<string, Change>> = {
  addvolume(vmi, given) {
    const options = readAddOptions(given);
    const { volumes, disks } = present(vmi);
    const volume: Volume = { name: options.name, ...hotpluggableSource(options) };
    refuseTaken(volume, volumes);
    return { volumes: [...volumes, volume], disks: [...disks, hotpluggedDisk(options)] };
  },
  removevolume(vmi, given) {
    const { name } = readRemoveOptions(given);
    const { volumes, disks } = present(vmi);
    const volume = volumes.find((entry) => entry.name === name);
    if (volume === undefined) throw new Refusal(409, `Unable to remove volume [${name}] because it does not exist`);
    if (!isHotpluggable(volume))
      throw new Refusal(409, `Unable to remove volume [${name}] because it is not hotpluggable`);
    return {
      volumes: volumes.filter((entry) => entry.name !== name),
      disks: disks.filter((disk) => disk.name !== name),
    };
  },
};

/** Requests that change which volumes a running guest has; everybody else reads it from the VMI. */
export function isVolumeRequest(name: string): boolean {
  return Object.hasOwn(changes, name);
}

export function planVolumeChange(name: string, vmi: VirtualMachineInstance, options: unknown): VolumeChange {
  if (options === undefined || options === null) throw new Refusal(400, "Request with no body");
  if (vmi.status?.phase !== "Running") throw new Refusal(409, "VMI is not running");
  const change = changes[name];
  if (change === undefined) throw new Refusal(501, `virtualmachineinstances/${name} is not served by this version`);
  return change(vmi, options);
}

/** Changes the VMI if and only if nobody else has changed its volumes since; admission has the last word. */
export async function changeVolumes(
  client: Pick<KubeClient, "patch">,
  name: string,
  vmi: VirtualMachineInstance,
  options: unknown,
): Promise<void> {
  const { volumes, disks } = planVolumeChange(name, vmi, options);
  const body = [
    ...replacement("/spec/volumes", vmi.spec.volumes, volumes),
    ...replacement("/spec/domain/devices/disks", vmi.spec.domain.devices.disks, disks),
  ];
  const dryRun = isJsonObject(options) && jsonEqual(options["dryRun"], ["All"]);
  try {
    const { name: vmiName = "", namespace } = vmi.metadata;
    await client.patch(virtualMachineInstances, vmiName, namespace, {
      type: "json",
      body,
      ...(dryRun ? { dryRun } : {}),
    });
  } catch (error) {
    throw asRefusal(error);
  }
}

function replacement(path: string, before: unknown, after: unknown): object[] {
  if (before === undefined) return [{ op: "add", path, value: after }];
  return [
    { op: "test", path, value: before },
    { op: "replace", path, value: after },
  ];
}

/** The API server's own words, for whoever asked us. */
function asRefusal(error: unknown): unknown {
  if (hasCode(error, "KubeConflict"))
    return new Refusal(409, "the volumes of the VMI were changed by someone else meanwhile; try again");
  if (!(error instanceof KubeStatusError) || error.httpStatus === undefined || error.httpStatus >= 500) return error;
  return new Refusal(error.httpStatus, error.status?.message ?? error.message, error.status?.details);
}

function present({ spec }: VirtualMachineInstance): VolumeChange {
  return { volumes: spec.volumes ?? [], disks: spec.domain.devices.disks ?? [] };
}

function refuseTaken({ name, ...source }: Volume, volumes: readonly Volume[]): void {
  if (volumes.some((volume) => volume.name === name))
    throw new Refusal(409, `Unable to add volume [${name}] because volume with that name already exists`);
  const claim = claimOf({ name, ...source });
  if (volumes.some((volume) => claimOf(volume) === claim))
    throw new Refusal(409, `Unable to add volume source [${claim}] because it already exists`);
}

function hotpluggableSource({ volumeSource }: AddVolumeOptions): Omit<Volume, "name"> {
  const { dataVolume, persistentVolumeClaim } = volumeSource;
  if (persistentVolumeClaim !== undefined)
    return { persistentVolumeClaim: { ...persistentVolumeClaim, hotpluggable: true } };
  if (dataVolume !== undefined) return { dataVolume: { ...dataVolume, hotpluggable: true } };
  throw new Refusal(400, "AddVolumeOptions requires a VolumeSource of type dataVolume or persistentVolumeClaim");
}

/** A disk without a bus gets the one that always has room. */
function hotpluggedDisk({ name, disk }: AddVolumeOptions): Disk {
  const bus = "scsi";
  const { cdrom, lun } = disk;
  if (cdrom !== undefined) return { ...disk, name, cdrom: { ...cdrom, bus: cdrom.bus ?? bus } };
  if (lun !== undefined) return { ...disk, name, lun: { ...lun, bus: lun.bus ?? bus } };
  return { ...disk, name, disk: { ...disk.disk, bus: disk.disk?.bus ?? bus } };
}

function readAddOptions(given: unknown): AddVolumeOptions {
  const options = isJsonObject(given) ? given : {};
  if (typeof options["name"] !== "string" || options["name"] === "")
    throw new Refusal(400, "AddVolumeOptions requires name to be set");
  if (!isJsonObject(options["disk"])) throw new Refusal(400, "AddVolumeOptions requires disk to not be nil");
  if (!isJsonObject(options["volumeSource"]))
    throw new Refusal(400, "AddVolumeOptions requires VolumeSource to not be nil");
  // The API server's schema checks the rest, with the whole VMI.
  return options as unknown as AddVolumeOptions;
}

function readRemoveOptions(given: unknown): RemoveVolumeOptions {
  const name = isJsonObject(given) ? given["name"] : undefined;
  if (typeof name !== "string" || name === "") throw new Refusal(400, "RemoveVolumeOptions requires name to be set");
  return { name };
}
