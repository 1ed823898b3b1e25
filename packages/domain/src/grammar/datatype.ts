import { isXmlName } from "../xml/escape-xml.ts";

/** A datatype of the grammar: an XML Schema type with the facets that libvirt's schemas use. */
export interface Datatype {
  readonly type: string;
  readonly pattern?: string;
  readonly min?: string;
  readonly max?: string;
  readonly maxLength?: number;
  readonly except?: readonly string[];
}

/** Smallest and largest value of XML Schema's integer types; `undefined` is no bound. */
const integerBounds: Readonly<Record<string, readonly [min: bigint | undefined, max: bigint | undefined]>> = {
  integer: [undefined, undefined],
  positiveInteger: [1n, undefined],
  short: [-0x8000n, 0x7fffn],
  int: [-0x8000_0000n, 0x7fff_ffffn],
  long: [-0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn],
  unsignedShort: [0n, 0xffffn],
  unsignedInt: [0n, 0xffff_ffffn],
  unsignedLong: [0n, 0xffff_ffff_ffff_ffffn],
};

const dateTime = /^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?$/;

const compiled = new Map<string, RegExp>();

/** Whether the text belongs to the datatype. */
export function matchesDatatype(datatype: Datatype, text: string): boolean {
  const bounds = integerBounds[datatype.type];
  // All types but strings ignore white space around them.
  const value = datatype.type === "string" ? text : collapse(text);
  if (bounds !== undefined && !matchesInteger(value, bounds, datatype)) return false;
  if (datatype.type === "dateTime" && !dateTime.test(value)) return false;
  if (datatype.type === "NCName" && (!isXmlName(value) || value.includes(":"))) return false;
  // libxml2, and so libvirt, holds expressions against the text as it is.
  if (datatype.pattern !== undefined && !expression(datatype.pattern).test(text)) return false;
  if (datatype.maxLength !== undefined && Array.from(value).length > datatype.maxLength) return false;
  return datatype.except?.includes(value) !== true;
}

/** White space as XML Schema's token type sees it: none around, one space between. */
export function collapse(text: string): string {
  return /^\s|\s$|\s\s|[\t\n\r]/.test(text) ? text.trim().replace(/\s+/g, " ") : text;
}

/** Whether the type is one of XML Schema's integers. */
export function isIntegerType(type: string): boolean {
  return type in integerBounds;
}

function matchesInteger(
  value: string,
  [min, max]: readonly [bigint | undefined, bigint | undefined],
  facets: Datatype,
): boolean {
  if (!/^[-+]?[0-9]{1,40}$/.test(value)) return false;
  const number = BigInt(value.startsWith("+") ? value.slice(1) : value);
  if ((min !== undefined && number < min) || (max !== undefined && number > max)) return false;
  if (facets.min !== undefined && number < BigInt(facets.min)) return false;
  return facets.max === undefined || number <= BigInt(facets.max);
}

function expression(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  // The generator lets only those expressions pass that mean the same in JavaScript and have no two repetitions side by
  // side that could share a text: none can be made to run long.
  const made = new RegExp(`^(?:${pattern})$`);
  compiled.set(pattern, made);
  return made;
}

/** The datatype in words: `an integer from 0 to 255`, `text like [0-9]+`. */
export function describeDatatype(datatype: Datatype): string {
  const bounds = integerBounds[datatype.type];
  if (bounds !== undefined) {
    const min = datatype.min ?? bounds[0]?.toString();
    const max = datatype.max ?? bounds[1]?.toString();
    const range = [min === undefined ? "" : ` from ${min}`, max === undefined ? "" : ` to ${max}`].join("");
    return `an integer${range}`;
  }
  if (datatype.type === "dateTime") return "a time like 2026-01-31T12:00:00Z";
  if (datatype.pattern !== undefined) return `text like ${datatype.pattern}`;
  return datatype.type === "NCName" ? "a name without colon" : "text";
}
