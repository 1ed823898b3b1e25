import type { BackingStore, Disk, DiskSource, DiskTarget } from "./definition-types.ts";
import { bootOrder, deviceId, placement, usbPlacement, virtioDriver, virtioProperties } from "./device.ts";
import { diskBus, driveAddress, type DiskBus } from "./drive-address.ts";
import { addIoLimits } from "./io-limits.ts";
import type { DeviceProperties, MachinePlan } from "./machine-plan.ts";
import { networkStorage } from "./network-storage.ts";
import type { Section } from "./section.ts";

type DiskSection = Section<Disk>;
type Node = Readonly<Record<string, unknown>>;

/** A disk in QEMU's terms: a graph of block nodes, the lowest first, and the device that shows it to the guest. */
export interface DiskParts {
  readonly id: string;
  readonly nodes: readonly Node[];
  readonly device: DeviceProperties & { readonly driver: string };
}

/** Where a bus other than PCI has room; the caller counts. */
export interface DiskBuses {
  /** Id of the USB controller's bus, if there is one. */
  readonly usb: string | undefined;
}

export function addDisk(disk: DiskSection, index: number, buses: DiskBuses, plan: MachinePlan): void {
  const { id, nodes, device } = buildDisk(disk, `disk${index}`, buses, plan);
  for (const node of nodes) plan.addBlockdev(node);
  plan.setBlockNodes(id, nodeNames(nodes));
  addIoLimits(disk, id, plan);
  const { driver, ...properties } = device;
  plan.addDevice(driver, { ...properties, wwn: worldWideName(disk, driver) });
}

export function nodeNames(nodes: DiskParts["nodes"]): string[] {
  return nodes.map((node) => String(node["node-name"]));
}

/** `prefix` begins the names of the block nodes, which QEMU limits to 31 characters. */
export function buildDisk(disk: DiskSection, prefix: string, buses: DiskBuses, plan: MachinePlan): DiskParts {
  const target = disk.requireChild("target");
  const kind = disk.oneOf("device", ["disk", "cdrom", "lun", "floppy"]) ?? "disk";
  const bus = diskBus(disk);
  const id = deviceId(disk, `${bus}-disk-${target.requireText("dev")}`, plan);
  const driver = disk.child("driver");
  driver?.oneOf("name", ["qemu"]);
  const cache =
    cacheModes[
      driver?.oneOf("cache", ["default", "none", "writeback", "writethrough", "directsync", "unsafe"]) ?? "default"
    ];
  const manager = addReservations(disk, id, plan);
  addTray(target, kind, id, plan);
  const readOnly = disk.child("readonly") !== undefined || kind === "cdrom";
  const nodes = storageNodes(disk, prefix, { cache, readOnly, ...(manager && { manager }) });
  const top = nodes.at(-1)?.["node-name"];
  const blockio = disk.child("blockio");
  // Snapshots of the whole guest are made elsewhere.
  disk.skip("snapshot");
  const common: DeviceProperties = {
    id,
    drive: typeof top === "string" ? top : undefined,
    serial: disk.text("serial"),
    "share-rw": disk.child("shareable") === undefined ? undefined : true,
    ...errorPolicy(disk),
    logical_block_size: blockio?.number("logicalBlockSize"),
    physical_block_size: blockio?.number("physicalBlockSize"),
    discard_granularity: blockio?.number("discardGranularity"),
    "write-cache":
      top === undefined || kind === "lun" || kind === "floppy" ? undefined : cache.writeCache ? "on" : "off",
    ...geometry(disk, bus),
  };
  return { id, nodes, device: { ...common, ...frontend(disk, { kind, bus }, buses, plan) } };
}

interface CacheMode {
  readonly direct: boolean;
  readonly noFlush: boolean;
  readonly writeCache: boolean;
}

const cacheModes = {
  default: { direct: false, noFlush: false, writeCache: true },
  none: { direct: true, noFlush: false, writeCache: true },
  writeback: { direct: false, noFlush: false, writeCache: true },
  writethrough: { direct: false, noFlush: false, writeCache: false },
  directsync: { direct: true, noFlush: false, writeCache: false },
  unsafe: { direct: false, noFlush: true, writeCache: true },
} as const satisfies Record<string, CacheMode>;

interface StorageOptions {
  readonly cache: CacheMode;
  readonly readOnly: boolean;
  /** Object that carries out SCSI reservations for the guest. */
  readonly manager?: string;
}

/** Reservations are made by a privileged helper of the node, over its socket. */
function addReservations(disk: DiskSection, id: string, plan: MachinePlan): string | undefined {
  const reservations = disk.child("source")?.child("reservations");
  if (reservations === undefined) return undefined;
  if (reservations.toggle("managed") ?? true) {
    throw reservations.refuse("managed", "the node's own helper must be named by its socket");
  }
  const source = reservations.requireChild("source");
  source.oneOf("type", ["unix"]);
  source.oneOf("mode", ["client"]);
  const path = source.requireText("path");
  plan.requireFile(path, `${reservations.path}: the node's helper for reservations does not listen`);
  const manager = `pr-helper-${id}`;
  plan.addObject("pr-manager-helper", manager, { path });
  return manager;
}

/** QEMU starts drives closed. */
function addTray(target: Section<DiskTarget>, kind: string, id: string, plan: MachinePlan): void {
  if (target.oneOf("tray", ["open", "closed"]) !== "open") return;
  if (kind !== "cdrom") throw target.refuse("tray", "only a CD-ROM drive has a tray");
  plan.addAfterStart({ command: "blockdev-open-tray", args: { id, force: true } });
}

/**
 * The chain of images, backing file first. SAFETY: every format is named and every chain ends explicitly, so QEMU never
 * looks into an image to find out what it is or which other file it wants.
 */
function storageNodes(disk: DiskSection, prefix: string, options: StorageOptions): Node[] {
  const source = disk.child("source");
  const type = disk.oneOf("type", ["file", "block", "network"]) ?? "file";
  const bottom = source === undefined ? undefined : bottomNode(source, type);
  const backing = disk.child("backingStore");
  if (bottom === undefined) {
    if (!["cdrom", "floppy"].includes(disk.text("device") ?? "disk")) {
      throw disk.refuse("source", "only a CD-ROM or floppy drive may be empty");
    }
    disk.child("driver")?.skip("type", "io", "discard", "detectZeroes");
    return [];
  }
  const driver = disk.child("driver");
  // SAFETY: an image of no stated format is never looked into; it is raw, as libvirt has it.
  const format = driver?.oneOf("type", ["raw", "qcow2"]) ?? "raw";
  const below = backing === undefined ? [] : backingNodes(backing, prefix, 1, options);
  if (format === "raw" && below.length > 0) throw disk.refuse("backingStore", "a raw image has no backing file");
  const discard = driver?.oneOf("discard", ["unmap", "ignore"]);
  const detectZeroes = driver?.oneOf("detectZeroes", ["off", "on", "unmap"]);
  return [
    ...below,
    {
      ...storage(bottom, `${prefix}-storage`, options),
      aio: type === "network" ? undefined : driver?.oneOf("io", ["threads", "native", "io_uring"]),
      "pr-manager": options.manager,
      discard,
    },
    {
      ...formatNode(format, prefix, "", below, options),
      discard,
      "detect-zeroes": detectZeroes,
      "discard-no-unref": driver?.toggle("discardNoUnref"),
    },
  ];
}

function backingNodes(store: Section<BackingStore>, prefix: string, depth: number, options: StorageOptions): Node[] {
  const type = store.oneOf("type", ["file", "block", "network"]);
  // An empty element ends the chain.
  if (type === undefined) return [];
  store.skip("index");
  const suffix = `-${depth}`;
  const readOnly = { ...options, readOnly: true };
  const bottom = bottomNode(store.requireChild("source"), type);
  if (bottom === undefined) throw store.refuse("source", "it must name an image");
  const format = store.requireChild("format").oneOf("type", ["raw", "qcow2"]) ?? "raw";
  const next = store.child("backingStore");
  const below = next === undefined ? [] : backingNodes(next, prefix, depth + 1, options);
  return [
    ...below,
    storage(bottom, `${prefix}${suffix}-storage`, readOnly),
    formatNode(format, prefix, suffix, below, readOnly),
  ];
}

/** Where the bytes are; undefined for an empty drive. */
function bottomNode(source: Section<DiskSource>, type: "file" | "block" | "network"): Node | undefined {
  // Numbers of nodes in another process; and a source that is missing is always an error here.
  source.skip("index");
  source.oneOf("startupPolicy", ["mandatory"]);
  if (type === "network") return networkStorage(source);
  const filename = type === "file" ? source.text("file") : source.text("dev");
  return filename === undefined ? undefined : { driver: type === "file" ? "file" : "host_device", filename };
}

function storage(bottom: Node, name: string, options: StorageOptions): Node {
  return {
    ...bottom,
    "node-name": name,
    "read-only": options.readOnly,
    "auto-read-only": false,
    cache: { direct: options.cache.direct, "no-flush": options.cache.noFlush },
  };
}

function formatNode(
  driver: "raw" | "qcow2",
  prefix: string,
  suffix: string,
  below: readonly Node[],
  options: StorageOptions,
): Node {
  return {
    driver,
    file: `${prefix}${suffix}-storage`,
    "node-name": `${prefix}${suffix}-format`,
    "read-only": options.readOnly,
    ...(driver === "qcow2" && { backing: below.at(-1)?.["node-name"] ?? null }),
    cache: { direct: options.cache.direct, "no-flush": options.cache.noFlush },
  };
}

function errorPolicy(disk: DiskSection): DeviceProperties {
  const driver = disk.child("driver");
  const write = driver?.oneOf("errorPolicy", ["stop", "report", "ignore", "enospace"]);
  const read = driver?.oneOf("rerrorPolicy", ["stop", "report", "ignore"]);
  return {
    werror: write === "enospace" ? "enospc" : write,
    // QEMU cannot stop for a full disk on reading.
    rerror: read ?? (write === "enospace" ? "report" : write),
  };
}

interface DiskShape {
  readonly kind: "disk" | "cdrom" | "lun" | "floppy";
  readonly bus: DiskBus;
}

type Frontend = DeviceProperties & { readonly driver: string };

function frontend(disk: DiskSection, shape: DiskShape, buses: DiskBuses, plan: MachinePlan): Frontend {
  if (shape.kind === "floppy" && shape.bus !== "fdc") throw disk.refuse("device", "a floppy needs the bus fdc");
  switch (shape.bus) {
    case "virtio":
      return virtioDisk(disk, shape, plan);
    case "scsi":
      return scsiDisk(disk, shape, plan);
    case "sata":
    case "ide":
      return ataDisk(disk, shape, plan);
    case "fdc":
      return floppy(disk, shape, plan);
    case "usb":
      return usbDisk(disk, shape, buses, plan);
  }
}

function ataDisk(disk: DiskSection, shape: DiskShape, plan: MachinePlan): Frontend {
  if (shape.kind === "lun") throw disk.refuse("device", "a LUN needs the scsi bus");
  const { controller, bus, target, unit } = driveAddress(disk, shape.bus);
  if (target !== 0 || (shape.bus === "sata" && bus !== 0))
    throw disk.refuse("address", "only SCSI has targets, SATA no buses");
  const name = plan.busName(shape.bus, controller);
  if (name === undefined) throw disk.refuse("target", `the machine has no ${shape.bus} controller ${controller}`);
  if (shape.bus === "ide" && (bus > 1 || unit > 1)) throw disk.refuse("address", "IDE has two buses of two units each");
  if (!plan.claimId(`${name}.${bus}/${unit}`)) throw disk.refuse("target", "another disk has this place");
  const driver = shape.kind === "cdrom" ? "ide-cd" : "ide-hd";
  // Each SATA port is a bus of its own; an IDE bus has room for two.
  const at = shape.bus === "sata" ? { bus: `${name}.${unit}` } : { bus: `${name}.${bus}`, unit };
  return { driver, ...at, ...identity(disk, ["rotationRate"]), ...bootOrder(disk, plan) };
}

function floppy(disk: DiskSection, shape: DiskShape, plan: MachinePlan): Frontend {
  if (shape.kind !== "floppy") throw disk.refuse("device", "only a floppy can be on the bus fdc");
  const { controller, bus, target, unit } = driveAddress(disk, shape.bus);
  if (plan.busName("fdc", 0) === undefined || unit > 1 || controller + bus + target > 0) {
    throw disk.refuse("target", "only x86_64 machines have a floppy controller, with two drives");
  }
  const order = bootOrder(disk, plan)["bootindex"];
  if (order !== undefined) plan.addOption("-global", `isa-fdc.bootindex${unit === 0 ? "A" : "B"}=${String(order)}`);
  return { driver: "floppy", unit };
}

function usbDisk(disk: DiskSection, shape: DiskShape, buses: DiskBuses, plan: MachinePlan): Frontend {
  if (buses.usb === undefined) throw disk.refuse("target", "the machine has no USB controller");
  if (shape.kind === "lun") throw disk.refuse("device", "a LUN needs the scsi bus");
  disk.oneOf("model", ["usb-storage"]);
  if (!disk.has("source")) throw disk.refuse("source", "a drive on USB cannot be empty");
  return {
    driver: "usb-storage",
    ...usbPlacement(disk, buses.usb, plan),
    removable: disk.child("target")?.toggle("removable") ?? false,
    ...bootOrder(disk, plan),
  };
}

/** What a disk tells about itself when it is asked, where its kind can tell it. */
function identity(disk: DiskSection, fields: readonly ("vendor" | "product" | "rotationRate")[]) {
  const target = disk.child("target");
  return {
    vendor: fields.includes("vendor") ? disk.text("vendor") : undefined,
    product: fields.includes("product") ? disk.text("product") : undefined,
    rotation_rate: fields.includes("rotationRate") ? target?.number("rotationRate") : undefined,
  };
}

/** Sixteen digits in hexadecimal: a number of 64 bits, which the monitor of a running machine cannot be told exactly. */
function worldWideName(disk: DiskSection, driver: string): bigint | undefined {
  if (!disk.has("wwn") || !/^(ide|scsi)-(hd|cd)$/.test(driver)) return undefined;
  const wwn = disk.text("wwn") ?? "";
  if (!/^(0x)?[0-9a-f]{16}$/i.test(wwn)) throw disk.refuse("wwn", "it must have sixteen hexadecimal digits");
  return BigInt(`0x${wwn.replace(/^0x/i, "")}`);
}

/** The shape that old operating systems ask a disk for. */
function geometry(disk: DiskSection, bus: DiskBus): DeviceProperties {
  const shape = disk.child("geometry");
  if (shape === undefined) return {};
  if (bus === "usb" || bus === "fdc")
    throw disk.refuse("geometry", `a disk on the bus ${bus} has no geometry of its own`);
  return {
    cyls: shape.number("cyls"),
    heads: shape.number("heads"),
    secs: shape.number("secs"),
    "bios-chs-trans": bus === "ide" ? shape.oneOf("trans", ["auto", "none", "lba"]) : undefined,
  };
}

const scsiDrivers: Readonly<Record<string, string>> = { disk: "scsi-hd", cdrom: "scsi-cd", lun: "scsi-block" };

/** Plain SCSI has sixteen numbers, and one of them is the controller's own. */
const ownScsiNumber = 7;
const lastScsiNumber = 15;

function scsiDisk(disk: DiskSection, shape: DiskShape, plan: MachinePlan): Frontend {
  const { controller, bus, target, unit } = driveAddress(disk, "scsi");
  const name = plan.busName("scsi", controller);
  if (name === undefined) throw disk.refuse("target", `the machine has no SCSI controller ${controller}`);
  const flat = plan.busName("flat scsi", controller) !== undefined;
  if (flat && (bus !== 0 || target !== 0)) throw disk.refuse("address", "this controller has one bus and no targets");
  const number = flat && !disk.has("address") && unit >= ownScsiNumber ? unit + 1 : unit;
  if (flat && number > lastScsiNumber)
    throw disk.refuse("target", "this controller has no room for it; use virtio-scsi");
  const at = flat
    ? { bus: `${name}.0`, "scsi-id": number }
    : { bus: `${name}.0`, channel: bus, "scsi-id": target, lun: unit };
  const told =
    shape.kind === "lun"
      ? {}
      : {
          ...identity(disk, ["vendor", "product", "rotationRate"]),
          removable: shape.kind === "disk" ? disk.child("target")?.toggle("removable") : undefined,
          dpofua: disk.child("target")?.toggle("dpofua"),
        };
  return { driver: scsiDrivers[shape.kind] ?? "scsi-hd", ...at, ...told, ...bootOrder(disk, plan) };
}

function virtioDisk(disk: DiskSection, shape: DiskShape, plan: MachinePlan): Frontend {
  if (shape.kind !== "disk") throw disk.refuse("device", `a ${shape.kind} cannot be on the virtio bus`);
  const { driver, known } = virtioDriver(plan, "blk", disk.text("model"));
  if (!known) throw disk.refuse("model", "this model of a virtio disk is not known");
  const options = disk.child("driver");
  const iothread = options?.number("iothread");
  // Several threads share the queues of one disk; QEMU knows that from version 9 on and refuses it before.
  const threads = (options?.child("iothreads")?.children("iothreads") ?? []).map((thread) => ({
    iothread: `iothread${thread.number("id") ?? 0}`,
  }));
  return {
    driver,
    ...virtioProperties(options),
    "num-queues": options?.number("queues"),
    "queue-size": options?.number("queueSize"),
    ioeventfd: options?.toggle("ioeventfd"),
    event_idx: options?.toggle("eventIdx"),
    iothread: iothread === undefined ? undefined : `iothread${iothread}`,
    "iothread-vq-mapping": threads.length === 0 ? undefined : threads,
    ...placement(disk, plan),
  };
}
