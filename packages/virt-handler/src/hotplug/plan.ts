import { isHotpluggable, type VirtualMachineInstance, type VolumeStatus } from "@polyvirt/api";
import type { DomainDocument } from "@polyvirt/protocol";
import { diskTargets } from "../instance/status/machine.ts";
import type { InstanceEvent } from "../instance/observed.ts";
import type { StatusPart } from "../instance/status/status-part.ts";

/** What is to be done in the launcher's folder of hotplugged disks. */
export interface VolumeMoves {
  readonly mount: readonly VolumeStatus[];
  readonly unmount: readonly string[];
}

/** The VMI's volumes that come and go, also those that are on their way out. */
export function hotplugStatuses({ status }: VirtualMachineInstance): VolumeStatus[] {
  return (status?.volumeStatus ?? []).filter(({ hotplugVolume }) => hotplugVolume !== undefined);
}

/** Volumes are mounted when their pod runs, and unmounted when neither the VMI nor the machine has them any more. */
export function planMoves(
  vmi: VirtualMachineInstance,
  domain: DomainDocument | undefined,
  mounted: ReadonlySet<string>,
): VolumeMoves {
  const wanted = wantedVolumes(vmi);
  const targets = domain === undefined ? new Map<string, string>() : diskTargets(domain);
  return {
    mount: hotplugStatuses(vmi).filter(
      ({ name, hotplugVolume }) => wanted.has(name) && !mounted.has(name) && (hotplugVolume?.attachPodUID ?? "") !== "",
    ),
    unmount: [...mounted].filter((name) => !wanted.has(name) && !targets.has(name)),
  };
}

/** Whether the machine has another set of hotplugged disks than the VMI and the launcher's folder say. */
export function needsHotplug(
  vmi: VirtualMachineInstance,
  domain: DomainDocument | undefined,
  mounted: ReadonlySet<string>,
): boolean {
  if (domain === undefined) return false;
  const wanted = wantedVolumes(vmi);
  const targets = diskTargets(domain);
  return hotplugStatuses(vmi).some(({ name }) =>
    wanted.has(name) ? mounted.has(name) && !targets.has(name) : targets.has(name),
  );
}

/** A machine starts with all of its disks; those that have not come yet are waited for. */
export function awaitsVolumes(vmi: VirtualMachineInstance, mounted: ReadonlySet<string>): boolean {
  return [...wantedVolumes(vmi)].some((name) => !mounted.has(name));
}

/** How far volumes are from the mount on; before that, virt-controller tells it. */
export const hotplugPart: StatusPart = (status, { vmi, mountedVolumes }) => {
  if (mountedVolumes === undefined) return status;
  const wanted = wantedVolumes(vmi);
  const volumeStatus = (status.volumeStatus ?? []).map((entry) =>
    entry.hotplugVolume === undefined ? entry : describe(entry, wanted.has(entry.name), mountedVolumes.has(entry.name)),
  );
  return { ...status, volumeStatus };
};

function describe(entry: VolumeStatus, wanted: boolean, mounted: boolean): VolumeStatus {
  const { name, phase } = entry;
  const step = (next: string, reason: string, message: string): VolumeStatus =>
    phase === next ? entry : { ...entry, phase: next, reason, message };
  if (wanted && entry.target !== "")
    return step("Ready", "VolumeReady", `Successfully attach hotplugged volume ${name} to VM`);
  if (wanted && mounted)
    return step("MountedToPod", "VolumeMountedToPod", `Volume ${name} has been mounted in virt-launcher pod`);
  if (wanted || mounted || entry.target !== "") return entry;
  return step("UnMountedFromPod", "VolumeUnMountedFromPod", `Volume ${name} has been unmounted from virt-launcher pod`);
}

/** Every step that a volume took, for people. */
export function hotplugEvents(before: readonly VolumeStatus[], after: readonly VolumeStatus[]): InstanceEvent[] {
  return after.flatMap(({ name, hotplugVolume, phase, reason, message }) => {
    const known = before.find((entry) => entry.name === name)?.phase;
    if (hotplugVolume === undefined || phase === known || reason === undefined) return [];
    return [{ type: "Normal", reason, message: message ?? "" }];
  });
}

function wantedVolumes({ spec }: VirtualMachineInstance): Set<string> {
  return new Set((spec.volumes ?? []).filter(isHotpluggable).map(({ name }) => name));
}
