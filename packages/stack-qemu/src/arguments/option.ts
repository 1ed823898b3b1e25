import { errors } from "@polyvirt/stack";

/** Values of the `key=value,key=value` syntax, for the options that do not take JSON. */
export type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Writes `head,key=value,…`. A comma in a value is doubled, which is QEMU's escape: a value can never become an option of
 * its own. Keys are ours.
 */
export function keyValues(head: string, values: OptionValues): string {
  const parts = [escapeValue(head)];
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    parts.push(`${key}=${typeof value === "boolean" ? (value ? "on" : "off") : escapeValue(String(value))}`);
  }
  return parts.join(",");
}

function escapeValue(value: string): string {
  // QEMU takes any other byte as it is, but no process argument can hold a NUL.
  if (value.includes("\0")) throw errors.StackDefinitionRefused("write a QEMU option: a value contains a NUL byte");
  return value.replaceAll(",", ",,");
}

/** Writes an option that takes JSON. What is undefined is left out; numbers of 64 bits are written as they are. */
export function json(values: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [`${JSON.stringify(key)}:${typeof value === "bigint" ? value : JSON.stringify(value)}`];
  });
  return `{${parts.join(",")}}`;
}
