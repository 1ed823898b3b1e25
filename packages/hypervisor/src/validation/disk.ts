import type { Disk } from "@polyvirt/api";
import { busOf } from "../converter/disk-target.ts";
import { isPciAddress } from "../converter/pci-address.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

const buses = ["virtio", "scsi", "sata", "usb"];
const caches = ["", "none", "writeback", "writethrough"];
const ioModes = ["", "native", "threads"];
const errorPolicies = ["", "stop", "ignore", "report", "enospace"];
const maxSerialLength = 256;
const minBlockSize = 512;
const maxBlockSize = 2_097_152;

/** A rule that looks at each disk on its own. */
function perDisk(
  name: string,
  check: (disk: Disk, field: string, report: Report, subject: Subject) => void,
): ValidationRule {
  return {
    name,
    check(subject, report) {
      for (const [index, disk] of (subject.spec.domain.devices.disks ?? []).entries()) {
        check(disk, `${subject.field}.domain.devices.disks[${index}]`, report, subject);
      }
    },
  };
}

function checkNames({ spec, field }: Subject, report: Report): void {
  const first = new Map<string, number>();
  for (const [index, { name }] of (spec.domain.devices.disks ?? []).entries()) {
    const at = `${field}.domain.devices.disks[${index}]`;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else
      report.invalid(`${at}.name`, `${at} and ${field}.domain.devices.disks[${earlier}] must not have the same Name.`);
  }
}

/** Disks and interfaces share one order. */
function checkBootOrder({ spec, field }: Subject, report: Report): void {
  const taken = new Set<number>();
  const devices = [
    ...(spec.domain.devices.disks ?? []).map(({ bootOrder }, index) => ({
      bootOrder,
      at: `${field}.domain.devices.disks[${index}]`,
    })),
    ...(spec.domain.devices.interfaces ?? []).map(({ bootOrder }, index) => ({
      bootOrder,
      at: `${field}.domain.devices.interfaces[${index}]`,
    })),
  ];
  for (const { bootOrder, at } of devices) {
    if (bootOrder === undefined) continue;
    if (bootOrder < 1) report.invalid(`${at}.bootOrder`, `${at} must have a boot order > 0, if supplied`);
    else if (taken.has(bootOrder))
      report.invalid(`${at}.bootOrder`, `Boot order for ${at}.bootOrder already set for a different device.`);
    taken.add(bootOrder);
  }
}

function checkTarget(disk: Disk, at: string, report: Report): void {
  const targets = (["disk", "cdrom", "lun"] as const).filter((target) => disk[target] !== undefined);
  if (targets.length > 1) report.invalid(at, `${at} can only have a single target type defined`);
  for (const target of targets) {
    const bus = disk[target]?.bus;
    if (bus === undefined || bus === "") continue;
    const busField = `${at}.${target}.bus`;
    if (bus === "ide") report.invalid(busField, "IDE bus is not supported");
    else if (!buses.includes(bus)) {
      report.invalid(busField, `${at} is set with an unrecognized bus ${bus}, must be one of: [${buses.join(" ")}]`);
    }
    if (target === "cdrom" && bus === "virtio")
      report.invalid(busField, "Bus type virtio is invalid for CD-ROM device");
    if (target === "lun" && bus !== "scsi")
      report.invalid(busField, `Bus type ${bus} is invalid for LUN device, please use scsi`);
    if (target === "disk" && bus === "sata" && disk.disk?.readonly === true) {
      report.invalid(busField, "sata hard-disks do not support read-only.");
    }
  }
  if (disk.cdrom?.tray !== undefined && !["open", "closed", ""].includes(disk.cdrom.tray)) {
    report.invalid(`${at}.cdrom.tray`, `${at}.cdrom.tray has invalid value ${disk.cdrom.tray}`);
  }
}

function checkOptions(disk: Disk, at: string, report: Report): void {
  if (disk.serial && !/^[A-Za-z0-9_.+-]+$/.test(disk.serial)) {
    report.invalid(
      `${at}.serial`,
      `${at}.serial must be made up of the following characters [A-Za-z0-9_.+-], if specified`,
    );
  }
  if ((disk.serial ?? "").length > maxSerialLength) {
    report.invalid(
      `${at}.serial`,
      `${at}.serial must be less than or equal to ${maxSerialLength} in length, if specified`,
    );
  }
  if (!caches.includes(disk.cache ?? "")) report.invalid(`${at}.cache`, `${at}.cache has invalid value ${disk.cache}`);
  if (!ioModes.includes(disk.io ?? "")) {
    report.invalid(`${at}.io`, `Disk IO mode for ${at}.io is not supported. Supported modes are: native, threads.`);
  }
  if (disk.io === "native" && disk.cache !== undefined && !["", "none"].includes(disk.cache)) {
    report.invalid(`${at}.io`, `${at}.io native needs ${at}.cache none`);
  }
  if (!errorPolicies.includes(disk.errorPolicy ?? "")) {
    report.invalid(`${at}.errorPolicy`, `${at}.errorPolicy has invalid value "${disk.errorPolicy}"`);
  }
  if (disk.dedicatedIOThread === true && busOf(disk) !== "virtio") {
    report.notSupported(`${at}.dedicatedIOThread`, `IOThreads are not supported for disks on a ${busOf(disk)} bus`);
  }
  const address = disk.disk?.pciAddress;
  if (address && !isPciAddress(address))
    report.invalid(`${at}.disk.pciAddress`, `disk ${at}.name has malformed PCI address (${address}).`);
  if (address && busOf(disk) !== "virtio") {
    report.invalid(
      `${at}.disk.pciAddress`,
      `disk ${at}.name - setting a PCI address is only possible with bus type virtio.`,
    );
  }
}

function checkBlockSize({ blockSize }: Disk, at: string, report: Report): void {
  const { custom, matchVolume } = blockSize ?? {};
  if (custom === undefined) return;
  if (matchVolume !== undefined && matchVolume.enabled !== false) {
    report.invalid(`${at}.blockSize`, "Block size matching can't be enabled together with a custom value");
  }
  for (const name of ["logical", "physical"] as const) {
    const size = custom[name];
    const sizeField = `${at}.blockSize.custom.${name}`;
    if (size === undefined) report.required(sizeField, `${sizeField} must be set`);
    else if (size < minBlockSize)
      report.invalid(sizeField, `Provided size of ${size} is less than the supported minimum size of ${minBlockSize}`);
    else if (size > maxBlockSize)
      report.invalid(
        sizeField,
        `Provided size of ${size} is greater than the supported maximum size of ${maxBlockSize}`,
      );
    else if (!Number.isInteger(Math.log2(size)))
      report.invalid(sizeField, `Provided size of ${size} is not a power of 2`);
  }
  const { logical = 0, physical = 0, discardGranularity } = custom;
  if (logical > physical && physical > 0) {
    report.invalid(
      `${at}.blockSize.custom.logical`,
      `Logical size ${logical} must be the same or less than the physical size of ${physical}`,
    );
  }
  if (discardGranularity !== undefined && logical > 0 && discardGranularity % logical !== 0) {
    report.invalid(
      `${at}.blockSize.custom.discardGranularity`,
      `Discard granularity ${discardGranularity} is not a multiple of the logical size ${logical}`,
    );
  }
}

/** Every disk has a volume; LUNs only on storage that is a device. */
function checkVolume(disk: Disk, at: string, report: Report, { spec }: Subject): void {
  const volume = spec.volumes?.find(({ name }) => name === disk.name);
  if (volume === undefined) {
    report.invalid(`${at}.name`, `${at}.name '${disk.name}' not found.`);
    return;
  }
  if (disk.lun !== undefined && volume.persistentVolumeClaim === undefined && volume.dataVolume === undefined) {
    report.invalid(`${at}.lun`, `${at}.lun can only be mapped to a DataVolume or PersistentVolumeClaim volume.`);
  }
}

const ioThreadsPolicies = ["", "shared", "auto", "supplementalPool"];

function checkIoThreads({ spec, field }: Subject, report: Report): void {
  const policy = spec.domain.ioThreadsPolicy ?? "";
  if (!ioThreadsPolicies.includes(policy))
    report.invalid(`${field}.domain.ioThreadsPolicy`, `Invalid IOThreadsPolicy (${policy})`);
  const count = spec.domain.ioThreads?.supplementalPoolThreadCount;
  if (policy === "supplementalPool" && (count === undefined || count < 1)) {
    report.invalid(
      `${field}.domain.ioThreads.supplementalPoolThreadCount`,
      "the number of iothreads needs to be set and positive for the dedicated policy",
    );
  }
  if (policy !== "supplementalPool" && count !== undefined) {
    report.invalid(
      `${field}.domain.ioThreads.supplementalPoolThreadCount`,
      `${field}.domain.ioThreads.supplementalPoolThreadCount needs ${field}.domain.ioThreadsPolicy supplementalPool`,
    );
  }
}

export const diskRules: readonly ValidationRule[] = [
  { name: "disk-names", check: checkNames },
  { name: "boot-order", check: checkBootOrder },
  perDisk("disk-target", checkTarget),
  perDisk("disk-options", checkOptions),
  perDisk("disk-block-size", checkBlockSize),
  perDisk("disk-volume", checkVolume),
  { name: "io-threads", check: checkIoThreads },
];
