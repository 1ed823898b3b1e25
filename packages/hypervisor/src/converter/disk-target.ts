import type { Disk, VolumeStatus } from "@polyvirt/api";

/** How the guest's kernel names disks of a bus: `vda`, `sdb`. */
const devicePrefixes: Readonly<Record<string, string>> = { virtio: "vd", scsi: "sd", sata: "sd", usb: "sd" };

/** Bus of a disk, whichever kind of target it has. */
export function busOf({ disk, cdrom, lun }: Disk): string {
  return (disk ?? cdrom ?? lun)?.bus || "virtio";
}

/** Counts like a spreadsheet's columns: a … z, aa … */
function letters(index: number): string {
  const last = String.fromCodePoint(97 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}

/**
 * Gives each disk a name in the guest. A disk that already has one in the status keeps it: hotplug and unplug of others
 * must not rename it.
 */
export function assignTargets(disks: readonly Disk[], statuses: readonly VolumeStatus[] = []): Map<string, string> {
  const known = new Map(statuses.filter(({ target }) => target !== "").map(({ name, target }) => [name, target]));
  const taken = new Set(disks.map(({ name }) => known.get(name)));
  const targets = new Map<string, string>();
  for (const disk of disks) {
    const prefix = devicePrefixes[busOf(disk)] ?? "vd";
    let target = known.get(disk.name);
    for (let index = 0; target === undefined || !target.startsWith(prefix); index += 1) {
      const candidate = `${prefix}${letters(index)}`;
      if (!taken.has(candidate)) target = candidate;
    }
    taken.add(target);
    targets.set(disk.name, target);
  }
  return targets;
}
