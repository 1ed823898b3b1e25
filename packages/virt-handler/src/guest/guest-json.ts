import { isJsonObject, type JsonObject } from "@polyvirt/core";

/** Reading JSON whose words are a guest's: what has the wrong type is left out, what is too much is cut. */
const MAX_JSON = 256 * 1024;
const MAX_TEXT = 256;

const osFields = [
  "id",
  "name",
  "version",
  "versionId",
  "prettyName",
  "kernelRelease",
  "kernelVersion",
  "machine",
] as const;

export type GuestOsInfo = Readonly<Record<(typeof osFields)[number], string>>;

/** An empty object when it is not JSON, not an object, or too long. */
export function parseObject(json: string): JsonObject {
  const value = parse(json);
  return isJsonObject(value) ? value : {};
}

export function parseList(json: string): readonly unknown[] {
  const value = parse(json);
  return Array.isArray(value) ? value : [];
}

function parse(json: string): unknown {
  if (json === "" || json.length > MAX_JSON) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export function readOs(value: unknown): GuestOsInfo | undefined {
  if (!isJsonObject(value)) return undefined;
  const entries = osFields.map((field) => [field, text(value[field]) ?? ""] as const);
  // The keys are exactly the fields.
  return Object.fromEntries(entries) as Record<(typeof osFields)[number], string>;
}

/** Printable and short: it ends up in terminals and tables. */
export function text(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return value.replace(/[\p{Cc}\p{Cf}]/gu, "").slice(0, MAX_TEXT);
}
