import type { BackingStore, Disk, DiskSource, DiskTarget } from "./definition-types.ts";
import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DeviceProperties, MachinePlan } from "./machine-plan.ts";
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
  const { driver, ...properties } = device;
  plan.addDevice(driver, properties);
}

export function nodeNames(nodes: DiskParts["nodes"]): string[] {
  return nodes.map((node) => String(node["node-name"]));
}

/** `prefix` begins the names of the block nodes, which QEMU limits to 31 characters. */
export function buildDisk(disk: DiskSection, prefix: string, buses: DiskBuses, plan: MachinePlan): DiskParts {
  const target = disk.requireChild("target");
  const kind = disk.oneOf("device", ["disk", "cdrom", "lun"]) ?? "disk";
  const bus = target.oneOf("bus", ["virtio", "scsi", "sata", "usb"]) ?? "virtio";
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
    "write-cache": top === undefined || kind === "lun" ? undefined : cache.writeCache ? "on" : "off",
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
  const type = disk.oneOf("type", ["file", "block"]) ?? "file";
  const path = source === undefined ? undefined : sourcePath(source, type);
  const backing = disk.child("backingStore");
  if (path === undefined) {
    if (disk.text("device") !== "cdrom") throw disk.refuse("source", "only a CD-ROM drive may be empty");
    disk.child("driver")?.skip("type", "io", "discard", "detectZeroes");
    return [];
  }
  const driver = disk.child("driver");
  const format = driver?.oneOf("type", ["raw", "qcow2"]);
  if (format === undefined) throw disk.refuse("driver", "driver.type must say whether the image is raw or qcow2");
  const below = backing === undefined ? [] : backingNodes(backing, prefix, 1, options);
  if (format === "raw" && below.length > 0) throw disk.refuse("backingStore", "a raw image has no backing file");
  const discard = driver?.oneOf("discard", ["unmap", "ignore"]);
  const detectZeroes = driver?.oneOf("detectZeroes", ["off", "on", "unmap"]);
  return [
    ...below,
    {
      ...storage(type, path, `${prefix}-storage`, options),
      aio: driver?.oneOf("io", ["threads", "native", "io_uring"]),
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
  const type = store.oneOf("type", ["file", "block"]);
  // An empty element ends the chain.
  if (type === undefined) return [];
  store.skip("index");
  const suffix = `-${depth}`;
  const readOnly = { ...options, readOnly: true };
  const path = sourcePath(store.requireChild("source"), type);
  const format = store.requireChild("format").oneOf("type", ["raw", "qcow2"]) ?? "raw";
  const next = store.child("backingStore");
  const below = next === undefined ? [] : backingNodes(next, prefix, depth + 1, options);
  return [
    ...below,
    storage(type, path, `${prefix}${suffix}-storage`, readOnly),
    formatNode(format, prefix, suffix, below, readOnly),
  ];
}

function sourcePath(source: Section<DiskSource>, type: "file" | "block"): string | undefined {
  source.skip("index", "startupPolicy");
  return type === "file" ? source.text("file") : source.text("dev");
}

function storage(type: "file" | "block", filename: string | undefined, name: string, options: StorageOptions): Node {
  return {
    driver: type === "file" ? "file" : "host_device",
    filename,
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
  readonly kind: "disk" | "cdrom" | "lun";
  readonly bus: "virtio" | "scsi" | "sata" | "usb";
}

function frontend(
  disk: DiskSection,
  shape: DiskShape,
  buses: DiskBuses,
  plan: MachinePlan,
): DeviceProperties & { driver: string } {
  const unit = unitOf(disk);
  switch (shape.bus) {
    case "virtio":
      return virtioDisk(disk, shape, plan);
    case "scsi":
      return { driver: scsiDrivers[shape.kind], ...scsiAddress(disk, unit), ...bootOrder(disk) };
    case "sata":
      if (shape.kind === "lun") throw disk.refuse("device", "a LUN needs the scsi bus");
      return { driver: shape.kind === "cdrom" ? "ide-cd" : "ide-hd", bus: `ide.${unit}`, ...bootOrder(disk) };
    case "usb":
      if (buses.usb === undefined) throw disk.refuse("target", "the machine has no USB controller");
      return {
        driver: "usb-storage",
        bus: buses.usb,
        removable: disk.child("target")?.toggle("removable") ?? false,
        ...bootOrder(disk),
      };
  }
}

const scsiDrivers = { disk: "scsi-hd", cdrom: "scsi-cd", lun: "scsi-block" } as const;

function virtioDisk(disk: DiskSection, shape: DiskShape, plan: MachinePlan): DeviceProperties & { driver: string } {
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

function bootOrder(disk: DiskSection): DeviceProperties {
  return { bootindex: disk.child("boot")?.number("order") };
}

/** `sda` is 0, `sdb` 1, …, `sdaa` 26. */
function unitOf(disk: DiskSection): number {
  const letters = /^[a-z]d([a-z]+)$/.exec(disk.requireChild("target").requireText("dev"))?.[1];
  if (letters === undefined) throw disk.refuse("target", "target.dev must be a name like vda or sdb");
  return Array.from(letters).reduce((sum, letter) => sum * 26 + (letter.codePointAt(0) ?? 0) - 96, 0) - 1;
}

function scsiAddress(disk: DiskSection, unit: number): DeviceProperties {
  const address = disk.child("address");
  if (address === undefined) return { bus: "scsi0.0", channel: 0, "scsi-id": 0, lun: unit };
  address.oneOf("type", ["drive"]);
  const [controller, bus, target, lun] = [
    address.text("controller"),
    address.text("bus"),
    address.text("target"),
    address.text("unit"),
  ].map((text) => Number(text ?? 0));
  if (![controller, bus, target, lun].every((value) => Number.isSafeInteger(value))) {
    throw disk.refuse("address", "its parts must be numbers");
  }
  return { bus: `scsi${controller}.0`, channel: bus, "scsi-id": target, lun };
}
