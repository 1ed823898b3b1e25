/**
 * Writes the few ASN.1 types that a certificate needs, in DER. Only writing: reading is node:crypto's job.
 */
function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

export function sequence(...items: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(items));
}

export function set(...items: readonly Buffer[]): Buffer {
  return tagged(0x31, Buffer.concat(items));
}

/** A positive integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = Buffer.from(bytes.subarray(start));
  const needsSign = ((trimmed[0] ?? 0) & 0x80) !== 0;
  return tagged(0x02, needsSign ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

export function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

export function octetString(content: Buffer): Buffer {
  return tagged(0x04, content);
}

export function bitString(content: Buffer, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), content]));
}

export function utf8String(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text, "utf8"));
}

/** Dates up to 2049 must be UTCTime, later ones GeneralizedTime. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(`${digits.slice(2)}Z`, "ascii"))
    : tagged(0x18, Buffer.from(`${digits}Z`, "ascii"));
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const group = [part & 0x7f];
    for (let high = part >>> 7; high > 0; high >>>= 7) group.unshift((high & 0x7f) | 0x80);
    bytes.push(...group);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** `[n] EXPLICIT`: wraps a complete value. */
export function explicit(number: number, content: Buffer): Buffer {
  return tagged(0xa0 | number, content);
}

/** `[n] IMPLICIT` of a primitive type: replaces its tag. */
export function implicit(number: number, content: Buffer): Buffer {
  return tagged(0x80 | number, content);
}

export function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
