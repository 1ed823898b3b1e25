import { errors } from "./errors.ts";
import { isJsonObject } from "./json.ts";

/** `/spec/containers/0/a~1b` → its parts. The empty pointer names the whole document. */
export function parsePointer(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) {
    throw errors.JsonPointerInvalid(`read JSON pointer "${pointer}": it must be empty or begin with "/"`);
  }
  return pointer
    .slice(1)
    .split("/")
    .map((part) => {
      if (/~(?![01])/.test(part)) {
        throw errors.JsonPointerInvalid(`read JSON pointer "${pointer}": "~" must be followed by 0 or 1`);
      }
      return part.replaceAll("~1", "/").replaceAll("~0", "~");
    });
}

export function formatPointer(parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${escapePointerPart(String(part))}`).join("");
}

export function escapePointerPart(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** An array index as JSON Patch allows it: no sign, no leading zero. */
export function parseArrayIndex(part: string): number | undefined {
  return /^(0|[1-9][0-9]*)$/.test(part) ? Number(part) : undefined;
}

/** What the pointer names in the document, or undefined when there is nothing. */
export function resolvePointer(document: unknown, pointer: string | readonly string[]): unknown {
  const parts = typeof pointer === "string" ? parsePointer(pointer) : pointer;
  let current = document;
  for (const part of parts) {
    if (Array.isArray(current)) {
      const index = parseArrayIndex(part);
      current = index === undefined ? undefined : current[index];
    } else if (isJsonObject(current) && Object.hasOwn(current, part)) current = current[part];
    else return undefined;
  }
  return current;
}
