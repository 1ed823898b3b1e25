import type { Disk } from "./definition-types.ts";
import { diskBus } from "./drive-address.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/**
 * What the firmware tries, and in which order. A definition says it at each device, or once for kinds of devices; then, as
 * in libvirt, the first device of each kind is meant, and the first disk where nothing is said at all.
 */
export function addBootOrder(domain: DomainSection, plan: MachinePlan): void {
  const devices = domain.requireChild("devices");
  const disks = byTarget(devices.children("disks"));
  const interfaces = devices.children("interfaces");
  const kinds = domain
    .requireChild("os")
    .children("bootDevices")
    .map((device) => ({ device, kind: device.oneOf("dev", ["hd", "cdrom", "network", "fd"]) ?? "hd" }));
  const single = [...disks, ...interfaces, ...devices.children("hostdevs"), ...devices.children("redirdevs")].find(
    (device) => device.has("boot"),
  );
  const clash = kinds[0]?.device;
  if (single !== undefined && clash !== undefined) {
    throw clash.refuse("dev", `${single.path} has an order of its own; give one for all devices, or none`);
  }
  if (single !== undefined) return;
  const diskOf = (kind: string) => disks.find((disk) => (disk.text("device") ?? "disk") === kind);
  const order = kinds.length === 0 ? [{ kind: "hd" as const }] : kinds;
  for (const [position, { kind }] of order.entries()) {
    const first = {
      hd: () => disks.find((disk) => ["disk", "lun"].includes(disk.text("device") ?? "disk")),
      cdrom: () => diskOf("cdrom"),
      fd: () => diskOf("floppy"),
      network: () => interfaces[0],
    }[kind]();
    if (first !== undefined) plan.setBootIndex(first.path, position + 1);
  }
}

/** Disks of one bus count in the order of their names, wherever the definition has them. */
function byTarget(disks: readonly Section<Disk>[]): Section<Disk>[] {
  const name = (disk: Section<Disk>): string => disk.child("target")?.text("dev") ?? "";
  const order = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
  const sorted: Section<Disk>[] = [];
  for (const disk of disks) {
    const bus = diskBus(disk);
    const after = sorted.findIndex((other) => diskBus(other) === bus && order(name(disk), name(other)) < 0);
    const last = sorted.findLastIndex((other) => diskBus(other) === bus);
    sorted.splice(after >= 0 ? after : last >= 0 ? last + 1 : sorted.length, 0, disk);
  }
  return sorted;
}
