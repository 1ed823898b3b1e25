import { errors } from "@polyvirt/stack";
import type { Section } from "./section.ts";

/** Units of sizes in a definition: bare letters and `iB` count in powers of two, `B` in powers of ten. */
const factors: Readonly<Record<string, number>> = {
  b: 1,
  bytes: 1,
  KB: 1000,
  k: 1024,
  KiB: 1024,
  MB: 1000 ** 2,
  M: 1024 ** 2,
  MiB: 1024 ** 2,
  GB: 1000 ** 3,
  G: 1024 ** 3,
  GiB: 1024 ** 3,
  TB: 1000 ** 4,
  T: 1024 ** 4,
  TiB: 1024 ** 4,
  PB: 1000 ** 5,
  P: 1024 ** 5,
  PiB: 1024 ** 5,
};

interface Sized {
  unit?: string | undefined;
  value?: number | string | undefined;
}

/** A size of the definition in bytes. */
export function sizeInBytes(size: Section<Sized>): number {
  return scaleToBytes(size.number("value") ?? 0, size.text("unit"), size.pathOf("unit"));
}

/** Without a unit a size is in KiB. The path is for the refusal of a unit that is not known. */
export function scaleToBytes(value: number, unit = "KiB", path = ""): number {
  const factor = factors[unit] ?? factors[unit.replace(/^[KkMmGgTtPp]/, (letter) => letter.toUpperCase())];
  if (factor === undefined) throw errors.StackDefinitionRefused(`read ${path}: the unit ${unit} is not known`);
  if (!Number.isSafeInteger(value * factor)) throw errors.StackDefinitionRefused(`read ${path}: this is too much`);
  return value * factor;
}

const mebibyte = 1024 ** 2;

/** Memory comes in whole mebibytes; less than that QEMU refuses on some machines, and libvirt rounds up as well. */
export function alignMemory(bytes: number): number {
  return Math.ceil(bytes / mebibyte) * mebibyte;
}
