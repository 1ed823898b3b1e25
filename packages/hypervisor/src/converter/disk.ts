import type { Disk, VirtualMachineInstance } from "@polyvirt/api";
import type { DomainDisk, DomainDiskBackingStore, DomainDiskDriver } from "@polyvirt/domain";
import type { Configurator } from "../contract.ts";
import { vcpuCount } from "../vcpus.ts";
import type { ConverterContext, VolumeLocation } from "./context.ts";
import { assignTargets, busOf } from "./disk-target.ts";
import { planIoThreads, type IoThreads } from "./io-threads.ts";
import { parsePciAddress } from "./pci-address.ts";
import { guestProfile, userAlias, virtioModel } from "./profile.ts";
import { refuse } from "./refuse.ts";

/** Disks, CD-ROMs and LUNs, each on the volume of its name. */
export const disk: Configurator = {
  name: "disk",
  configure(domain, vmi, context) {
    const disks = vmi.spec.domain.devices.disks ?? [];
    const targets = assignTargets(disks, vmi.status?.volumeStatus);
    const threads = planIoThreads(vmi.spec.domain);
    const converted = disks.map((given) => convert(given, targets.get(given.name) ?? "", vmi, context, threads));
    if (converted.length > 0) domain.devices.disks = converted;
  },
};

function convert(
  given: Disk,
  target: string,
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  threads: IoThreads | undefined,
): DomainDisk {
  const location = context.volumes[given.name];
  if (location === undefined)
    throw refuse(`spec.domain.devices.disks (${given.name})`, "the launcher has no storage for its volume");
  const bus = busOf(given);
  const device = given.cdrom === undefined ? (given.lun === undefined ? "disk" : "lun") : "cdrom";
  if (device === "lun" && location.kind !== "block")
    throw refuse(
      `spec.domain.devices.disks (${given.name}).lun`,
      "a LUN needs a block device, and its volume is a file",
    );
  const readonly =
    (given.cdrom?.readonly ?? given.disk?.readonly ?? given.lun?.readonly) === true || location.readonly === true;
  if (readonly && device === "disk" && bus === "sata")
    throw refuse(`spec.domain.devices.disks (${given.name})`, "sata hard-disks do not support read-only.");
  return {
    device,
    type: location.kind,
    model: bus === "virtio" ? virtioModel(vmi, guestProfile(vmi, context)) : undefined,
    driver: driverOf(given, bus, vmi, location, threads),
    source: {
      [location.kind === "block" ? "dev" : "file"]: location.path,
      reservations: given.lun?.reservation === true ? reservations : undefined,
      dataStore: dataStoreOf(location),
    },
    backingStore: backingStoreOf(location),
    // A closed tray is what a drive starts with anyway.
    target: { dev: target, bus, tray: given.cdrom?.tray === "open" ? "open" : undefined },
    serial: given.serial || undefined,
    readonly: readonly ? {} : undefined,
    shareable: given.shareable === true ? {} : undefined,
    boot: given.bootOrder ? { order: given.bootOrder } : undefined,
    alias: userAlias(given.name),
    address: given.disk?.pciAddress ? parsePciAddress(given.disk.pciAddress) : undefined,
    blockio: blockSizeOf(given, location),
  };
}

/** The daemon that makes persistent reservations for the VMM, which itself may not. */
const reservations = {
  managed: "no",
  source: { type: "unix", path: "/var/run/kubevirt/daemons/pr/pr-helper.sock", mode: "client" },
} as const;

function driverOf(
  given: Disk,
  bus: string,
  vmi: VirtualMachineInstance,
  location: VolumeLocation,
  threads: IoThreads | undefined,
): DomainDiskDriver {
  const virtio = bus === "virtio";
  const cache = given.cache || cacheOf(location);
  const pool =
    virtio && threads !== undefined && threads.pool.length > 0 ? threads.pool.map((id) => ({ id })) : undefined;
  return {
    name: "qemu",
    type: location.format,
    cache,
    // Native AIO needs the page cache out of the way, and blocks only where the file still has to grow.
    io:
      given.io ||
      (cache === "none" && (location.kind === "block" || location.preallocated === true) ? "native" : undefined),
    errorPolicy: given.errorPolicy || "stop",
    discard: given.cdrom === undefined && location.preallocated !== true ? "unmap" : undefined,
    queues: virtio && vmi.spec.domain.devices.blockMultiQueue === true ? vcpuCount(vmi.spec.domain) : undefined,
    iothread: virtio ? threads?.byDisk.get(given.name) : undefined,
    iothreads: pool === undefined ? undefined : { iothreads: pool },
  };
}

function cacheOf({ directIo, readonly }: VolumeLocation): string | undefined {
  if (readonly === true || directIo === undefined) return undefined;
  return directIo ? "none" : "writethrough";
}

function backingStoreOf({ backing }: VolumeLocation): DomainDiskBackingStore | undefined {
  if (backing === undefined) return undefined;
  return {
    type: backing.kind,
    format: { type: backing.format },
    source: { [backing.kind === "block" ? "dev" : "file"]: backing.path },
    // An empty element ends the chain: nothing is probed below it.
    backingStore: {},
  };
}

function dataStoreOf({ dataFile }: VolumeLocation) {
  if (dataFile === undefined) return undefined;
  return {
    type: dataFile.kind,
    format: { type: "raw" },
    source: { [dataFile.kind === "block" ? "dev" : "file"]: dataFile.path },
  };
}

function blockSizeOf({ name, blockSize }: Disk, location: VolumeLocation): DomainDisk["blockio"] {
  const { custom, matchVolume } = blockSize ?? {};
  if (custom !== undefined) {
    return {
      logicalBlockSize: custom.logical,
      physicalBlockSize: custom.physical,
      discardGranularity: custom.discardGranularity,
    };
  }
  if (matchVolume === undefined || matchVolume.enabled === false) return undefined;
  if (location.blockSize === undefined) {
    throw refuse(`spec.domain.devices.disks (${name}).blockSize.matchVolume`, "the volume's block size is unknown");
  }
  const { logical, physical, discardGranularity } = location.blockSize;
  return { logicalBlockSize: logical, physicalBlockSize: physical, discardGranularity };
}
