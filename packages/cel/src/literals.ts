/** The text of string and bytes literals: prefixes, quotes and escapes. */

interface Quoted {
  readonly bytes: boolean;
  readonly raw: boolean;
  readonly body: string;
}

function dissect(token: string): Quoted {
  let index = 0;
  let bytes = false;
  let raw = false;
  for (; token[index] !== '"' && token[index] !== "'"; index += 1) {
    if (token[index] === "b" || token[index] === "B") bytes = true;
    else raw = true;
  }
  const quote = token[index] ?? '"';
  const width = token.startsWith(quote.repeat(3), index) && token.length - index >= 6 ? 3 : 1;
  const body = token.slice(index + width, token.length - width).replace(/\r\n?/g, "\n");
  return { bytes, raw, body };
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  '"': '"',
  "'": "'",
  "`": "`",
  "\\": "\\",
  "?": "?",
};

interface Escape {
  /** A character (by code point) or one byte, and how much of the text it took. */
  readonly code: number;
  readonly length: number;
  readonly isByte: boolean;
}

/** Reads the escape after a backslash at `index`; undefined when there is none such. */
function readEscape(text: string, index: number): Escape | undefined {
  const letter = text[index] ?? "";
  const simple = simpleEscapes[letter];
  if (simple !== undefined) return { code: simple.charCodeAt(0), length: 1, isByte: false };
  const numeric = (digits: number, base: number, skip: number, isByte: boolean): Escape | undefined => {
    const part = text.slice(index + skip, index + skip + digits);
    const valid = base === 16 ? /^[0-9a-fA-F]+$/ : /^[0-3][0-7][0-7]$/;
    if (part.length !== digits || !valid.test(part)) return undefined;
    return { code: Number.parseInt(part, base), length: skip + digits, isByte };
  };
  if (letter === "x" || letter === "X") return numeric(2, 16, 1, true);
  if (letter === "u") return numeric(4, 16, 1, false);
  if (letter === "U") return numeric(8, 16, 1, false);
  return numeric(3, 8, 0, true);
}

function isScalar(code: number): boolean {
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/** The value of a string or bytes token, or what is wrong with it. */
export function readQuoted(token: string): { value: string | Uint8Array } | { problem: string } {
  const { bytes, raw, body } = dissect(token);
  if (raw || !body.includes("\\")) return { value: bytes ? new TextEncoder().encode(body) : body };
  const chunks: number[] = [];
  let text = "";
  for (let index = 0; index < body.length; index += 1) {
    const char = body[index] ?? "";
    if (char !== "\\") {
      text += char;
      continue;
    }
    const escape = readEscape(body, index + 1);
    if (escape === undefined) return { problem: `unknown escape \\${body[index + 1] ?? ""}` };
    index += escape.length;
    if (bytes && escape.isByte) {
      chunks.push(...new TextEncoder().encode(text), escape.code);
      text = "";
    } else {
      if (!isScalar(escape.code)) return { problem: `escape is not a Unicode character: ${escape.code.toString(16)}` };
      if (bytes && escape.length > 4) return { problem: "unicode escapes are not allowed in bytes" };
      text += String.fromCodePoint(escape.code);
    }
  }
  if (!bytes) return { value: text };
  return { value: Uint8Array.from([...chunks, ...new TextEncoder().encode(text)]) };
}

/** A string as a CEL literal with double quotes. */
export function quoteString(text: string): string {
  const escapes: Readonly<Record<string, string>> = {
    "\u0007": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
  };
  // oxlint-disable-next-line no-control-regex -- control characters are what has to be escaped
  return `"${text.replace(/[\u0000-\u001f"\\\u007f]/g, (char) => escapes[char] ?? `\\x${hex(char.charCodeAt(0))}`)}"`;
}

export function quoteBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    text += plain ? String.fromCharCode(byte) : `\\x${hex(byte)}`;
  }
  return `b"${text}"`;
}

function hex(value: number): string {
  return value.toString(16).padStart(2, "0");
}
