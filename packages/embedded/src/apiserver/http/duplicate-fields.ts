/**
 * Paths of fields that a JSON text names twice in one object, such as `spec.replicas`. JSON.parse silently keeps the last
 * one; the text must have been parsed successfully before.
 */
export function duplicateFields(text: string): string[] {
  const found: string[] = [];
  const stack: Level[] = [];
  let expectKey = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) {
      const end = endOfString(text, index);
      const level = stack.at(-1);
      if (expectKey && level?.keys !== undefined) {
        const raw = text.slice(index + 1, end);
        const key = raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
        level.current = key;
        if (level.keys.has(key)) found.push(pathOf(stack));
        level.keys.add(key);
        expectKey = false;
      }
      index = end;
    } else if (code === 0x7b) {
      stack.push({ keys: new Set(), current: "", index: 0 });
      expectKey = true;
    } else if (code === 0x5b) {
      stack.push({ keys: undefined, current: "", index: 0 });
      expectKey = false;
    } else if (code === 0x7d || code === 0x5d) {
      stack.pop();
      expectKey = false;
    } else if (code === 0x2c) {
      const level = stack.at(-1);
      if (level?.keys === undefined) {
        if (level !== undefined) level.index++;
      } else {
        expectKey = true;
      }
    }
  }
  return found;
}

interface Level {
  /** Undefined inside a list. */
  readonly keys: Set<string> | undefined;
  current: string;
  index: number;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x5c) index++;
    else if (code === 0x22) break;
  }
  return index;
}

function pathOf(stack: readonly Level[]): string {
  return stack
    .map((level) => (level.keys === undefined ? `[${level.index}]` : `.${level.current}`))
    .join("")
    .replace(/^\./, "");
}
