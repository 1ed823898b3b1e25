import type { VirtualMachineInstance } from "@polyvirt/api";
import type { ArchitectureProfile } from "../arch/index.ts";
import { isUnset } from "./step.ts";

/** Images that may change under their name are pulled every time, others once. */
export function setContainerDiskPullPolicy(draft: VirtualMachineInstance): void {
  for (const { containerDisk } of draft.spec.volumes ?? []) {
    if (containerDisk === undefined || !isUnset(containerDisk.imagePullPolicy)) continue;
    const reference = containerDisk.image;
    // A digest or a tag sits after the last slash; a colon before it belongs to the registry's port.
    const name = reference.slice(reference.lastIndexOf("/") + 1);
    const pinned = name.includes("@") || (name.includes(":") && !name.endsWith(":latest"));
    containerDisk.imagePullPolicy = pinned ? "IfNotPresent" : "Always";
  }
}

/** Every volume that no disk or file system uses becomes a disk of the same name. */
export function setDisksForVolumes(draft: VirtualMachineInstance): void {
  const { devices } = draft.spec.domain;
  const used = new Set([...(devices.disks ?? []), ...(devices.filesystems ?? [])].map(({ name }) => name));
  const missing = (draft.spec.volumes ?? []).filter(
    ({ name, memoryDump, downwardMetrics }) =>
      !used.has(name) && memoryDump === undefined && downwardMetrics === undefined,
  );
  if (missing.length > 0) devices.disks = [...(devices.disks ?? []), ...missing.map(({ name }) => ({ name }))];
}

export function setDiskTargets(draft: VirtualMachineInstance): void {
  for (const disk of draft.spec.domain.devices.disks ?? []) {
    if (disk.disk === undefined && disk.cdrom === undefined && disk.lun === undefined) disk.disk = {};
    if (disk.cdrom !== undefined) {
      disk.cdrom.readonly ??= true;
      if (isUnset(disk.cdrom.tray)) disk.cdrom.tray = "closed";
    }
  }
}

export function diskBusDefault(buses: ArchitectureProfile["buses"]): (draft: VirtualMachineInstance) => void {
  return (draft) => {
    for (const disk of draft.spec.domain.devices.disks ?? []) {
      for (const kind of ["disk", "cdrom", "lun"] as const) {
        const target = disk[kind];
        if (target !== undefined && isUnset(target.bus)) target.bus = buses[kind];
      }
    }
  };
}
