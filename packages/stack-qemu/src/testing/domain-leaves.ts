import type { Domain } from "@polyvirt/domain";

type Scalar = string | number | boolean;

/** One value of a definition. */
export interface Leaf {
  /** Without the numbers of list items: `devices.disks[].serial`. An element that is only there ends in `{}`. */
  readonly path: string;
  readonly steps: readonly (string | number)[];
  /** Undefined for an element that is only there. */
  readonly value: Scalar | undefined;
}

export function leavesOf(domain: Domain): Leaf[] {
  return collect(domain, "", []);
}

function collect(value: unknown, path: string, steps: readonly (string | number)[]): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => collect(item, `${path}[]`, [...steps, index]));
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return [{ path, steps, value }];
  if (typeof value !== "object" || value === null) return [];
  const entries = Object.entries(value);
  if (entries.length === 0) return [{ path: `${path}{}`, steps, value: undefined }];
  return entries.flatMap(([key, item]) => collect(item, path === "" ? key : `${path}.${key}`, [...steps, key]));
}

const opposites: Readonly<Record<string, string>> = { yes: "no", no: "yes", on: "off", off: "on" };

/** Other values that could stand in the leaf's place; undefined takes it away. */
export function alternatives({ value }: Leaf, elsewhere: readonly (Scalar | undefined)[]): (Scalar | undefined)[] {
  if (value === undefined) return [undefined];
  const text = String(value);
  const opposite = opposites[text];
  const others: Scalar[] = elsewhere.filter((other) => other !== undefined).slice(0, 8);
  if (opposite !== undefined) others.push(opposite);
  if (/^\d+$/.test(text)) others.push(typeof value === "number" ? value + 1 : String(Number(text) + 1));
  if (/^0x[0-9a-f]+$/i.test(text)) others.push(`0x${(Number(text) + 1).toString(16)}`);
  if (typeof value === "string") others.push(`${text}x`, `${text},planted=on`);
  // 0x0000 and 0 are the same.
  return [...new Set(others)].filter((other) => other !== value && Number(other) !== Number(value));
}

/** The definition with another value in one place. */
export function changeAt<T>(whole: T, steps: readonly (string | number)[], value: Scalar | undefined): T {
  const [step, ...rest] = steps;
  // The end of the steps is where the value goes, whatever was there.
  if (step === undefined) return value as T;
  if (Array.isArray(whole)) {
    const items: unknown[] = whole.map((item, index) => (index === step ? changeAt(item, rest, value) : item));
    // A list of the same kind, with one item changed or missing.
    return items.filter((item) => item !== undefined) as T;
  }
  const part = (whole as Record<string, unknown>)[step];
  return { ...whole, [step]: changeAt(part, rest, value) };
}
