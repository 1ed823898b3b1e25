import type { Disk } from "./definition-types.ts";
import type { Section } from "./section.ts";

const diskBuses = ["virtio", "scsi", "sata", "usb", "ide", "fdc"] as const;
export type DiskBus = (typeof diskBuses)[number];

/** Where a disk sits below its controller. */
export interface DriveAddress {
  readonly controller: number;
  readonly bus: number;
  readonly target: number;
  readonly unit: number;
}

/** The bus of a disk that names none is told by its name, as libvirt does it. */
const busesByName: readonly (readonly [prefix: string, bus: DiskBus])[] = [
  ["vd", "virtio"],
  ["sd", "scsi"],
  ["hd", "ide"],
  ["fd", "fdc"],
];

export function diskBus(disk: Section<Disk>): DiskBus {
  const target = disk.requireChild("target");
  const given = target.oneOf("bus", diskBuses);
  if (given !== undefined) return given;
  const name = target.requireText("dev");
  const found = busesByName.find(([prefix]) => name.startsWith(prefix));
  if (found === undefined) throw target.refuse("dev", "its bus must be given, or a name like vda, sda, hda or fda");
  return found[1];
}

/** The disk's own address, or the one that belongs to its name. */
export function driveAddress(disk: Section<Disk>, bus: DiskBus): DriveAddress {
  const address = disk.child("address");
  if (address === undefined) return addressByName(nameIndex(disk), bus);
  address.oneOf("type", ["drive"]);
  return {
    controller: address.number("controller") ?? 0,
    bus: address.number("bus") ?? 0,
    target: address.number("target") ?? 0,
    unit: address.number("unit") ?? 0,
  };
}

const sataPorts = 6;

function addressByName(index: number, bus: DiskBus): DriveAddress {
  const none = { controller: 0, bus: 0, target: 0 };
  switch (bus) {
    case "ide":
      return { ...none, controller: Math.floor(index / 4), bus: Math.floor(index / 2) % 2, unit: index % 2 };
    case "sata":
      return { ...none, controller: Math.floor(index / sataPorts), unit: index % sataPorts };
    // One controller has room for all of them, also for those that come later.
    case "scsi":
    case "virtio":
    case "usb":
    case "fdc":
      return { ...none, unit: index };
  }
}

/** `sda` is 0, `sdb` 1, …, `sdaa` 26. */
function nameIndex(disk: Section<Disk>): number {
  const letters = /^[a-z]d([a-z]{1,3})$/.exec(disk.requireChild("target").requireText("dev"))?.[1];
  if (letters === undefined) throw disk.refuse("target", "target.dev must be a name like vda or sdb");
  return Array.from(letters).reduce((sum, letter) => sum * 26 + (letter.codePointAt(0) ?? 0) - 96, 0) - 1;
}
