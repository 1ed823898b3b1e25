import { parseArgs, type ParseArgsConfig } from "node:util";
import { errors } from "./errors.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** `util.parseArgs` with mistakes turned into our own error, so that the command's usage is shown with it. */
export function parseArguments<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (cause) {
    throw errors.CliUsage("read the command line", { cause });
  }
}

/** A whole number option within its range. */
export function parseCount(name: string, text: string, range: { min: number; max: number }): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < range.min || value > range.max) {
    throw errors.CliUsage(`--${name} must be a whole number from ${range.min} to ${range.max}, not "${text}"`);
  }
  return value;
}
