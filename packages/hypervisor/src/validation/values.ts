/** Values of the right type that no machine can have: found here, and not by the VMM on some node. */
import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import { bytesOf, isQuantity } from "../quantity.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

type Found<Value> = readonly (readonly [path: string, value: Value | undefined])[];
type Find<Value> = (domain: VirtualMachineInstanceSpec["domain"]) => Found<Value>;

const unsigned = 2 ** 32 - 1;
/** Threads are real: each costs memory before it does anything. */
const maxIoThreads = 1024;

const items = <Item, Value>(
  list: string,
  values: readonly Item[] | undefined,
  read: (item: Item) => Value | undefined,
  at: string,
): Found<Value> => (values ?? []).map((item, index) => [`${list}[${index}].${at}`, read(item)] as const);

/** Whole numbers and their range. */
const numbers: readonly { readonly find: Find<number>; readonly min: number; readonly max: number }[] = [
  {
    find: ({ devices }) => items("devices.disks", devices.disks, (disk) => disk.bootOrder, "bootOrder"),
    min: 0,
    max: unsigned,
  },
  {
    find: ({ devices }) => items("devices.interfaces", devices.interfaces, (nic) => nic.bootOrder, "bootOrder"),
    min: 0,
    max: unsigned,
  },
  {
    find: ({ devices }) => items("devices.interfaces", devices.interfaces, (nic) => nic.acpiIndex, "acpiIndex"),
    min: 0,
    max: unsigned,
  },
  {
    find: ({ devices }) =>
      items(
        "devices.disks",
        devices.disks,
        (disk) => disk.blockSize?.custom?.discardGranularity,
        "blockSize.custom.discardGranularity",
      ),
    min: 0,
    max: unsigned,
  },
  { find: ({ clock }) => [["clock.utc.offsetSeconds", clock?.utc?.offsetSeconds]], min: -(2 ** 31), max: 2 ** 31 },
  {
    find: ({ ioThreads }) => [["ioThreads.supplementalPoolThreadCount", ioThreads?.supplementalPoolThreadCount]],
    min: 0,
    max: maxIoThreads,
  },
  {
    find: ({ features }) => [["features.hyperv.spinlocks.spinlocks", features?.hyperv?.spinlocks?.spinlocks]],
    min: 0,
    max: unsigned,
  },
];

function checkNumbers({ spec, field }: Subject, report: Report): void {
  for (const { find, min, max } of numbers) {
    for (const [path, value] of find(spec.domain)) {
      if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) continue;
      const at = `${field}.domain.${path}`;
      report.invalid(at, `${at} '${value}': must be a whole number from ${min} to ${max}.`);
    }
  }
}

/** Names that become the names of devices in the machine. */
const names: Find<string> = ({ devices, cpu }) => [
  ...items("devices.disks", devices.disks, ({ name }) => name, "name"),
  ...items("devices.interfaces", devices.interfaces, ({ name }) => name, "name"),
  ...items("devices.inputs", devices.inputs, ({ name }) => name, "name"),
  ...items("devices.gpus", devices.gpus, ({ name }) => name, "name"),
  ...items("devices.hostDevices", devices.hostDevices, ({ name }) => name, "name"),
  ...items("devices.filesystems", devices.filesystems, ({ name }) => name, "name"),
  ["devices.watchdog.name", devices.watchdog?.name],
  ["devices.sound.name", devices.sound?.name],
  ...items("cpu.features", cpu?.features, ({ name }) => name || " ", "name"),
];

function checkNames({ spec, field }: Subject, report: Report): void {
  for (const [path, value] of names(spec.domain)) {
    if (value === undefined || /^[A-Za-z0-9_.-]*$/.test(value)) continue;
    const at = `${field}.domain.${path}`;
    report.invalid(at, `${at} must be made up of the following characters [A-Za-z0-9_.-]`);
  }
}

// Control characters, half characters and the two code points that XML excludes.
// oxlint-disable-next-line no-control-regex
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

/** A machine definition is XML, and every text of the domain may become part of it. */
function checkTexts({ spec, field }: Subject, report: Report): void {
  const look = (value: unknown, at: string): void => {
    if (typeof value === "string") {
      if (unwritable.test(value)) report.invalid(at, `${at} must not have control characters`);
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) look(item, `${at}[${index}]`);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) look(item, `${at}.${key}`);
    }
  };
  look(spec.domain, `${field}.domain`);
}

function checkPageSize({ spec, field }: Subject, report: Report): void {
  const size = spec.domain.memory?.hugepages?.pageSize;
  if (size === undefined || !isQuantity(size) || bytesOf(size) >= 1024) return;
  const at = `${field}.domain.memory.hugepages.pageSize`;
  report.invalid(at, `${at} '${size}': must be greater than or equal to 1Ki.`);
}

/** More than numbers can count exactly; no machine comes near. */
const tooMuchMemory = 2 ** 53;

function checkMemorySize({ spec, field }: Subject, report: Report): void {
  const { memory, resources } = spec.domain;
  const sizes = [
    ["memory.guest", memory?.guest],
    ["memory.maxGuest", memory?.maxGuest],
    ["resources.requests.memory", resources?.requests?.["memory"]],
    ["resources.limits.memory", resources?.limits?.["memory"]],
  ] as const;
  for (const [path, value] of sizes) {
    const at = `${field}.domain.${path}`;
    if (bytesOf(value) >= tooMuchMemory) report.invalid(at, `${at} '${value}': must be less than 8Pi.`);
  }
}

export const valueRules: readonly ValidationRule[] = [
  { name: "numbers", check: checkNumbers },
  { name: "device-names", check: checkNames },
  { name: "texts", check: checkTexts },
  { name: "hugepage-size", check: checkPageSize },
  { name: "memory-size", check: checkMemorySize },
];
