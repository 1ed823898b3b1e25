const candidate = /\d{16}/;
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** The first whole number in a JSON text that would come back as another one, because it is beyond the exact numbers. */
export function inexactNumber(text: string): string | undefined {
  if (!candidate.test(text)) return undefined;
  for (const [found] of text.matchAll(stringOrNumber)) {
    // Beyond 64 bits it is a floating point number for everyone.
    if (found.startsWith('"') || Math.abs(Number(found)) >= 2 ** 63) continue;
    if (BigInt(found) !== BigInt(Number(found))) return found;
  }
  return undefined;
}
