// One byte per ASCII character: 1 = may begin a name, 2 = may only continue one. The colon counts: prefixes are read
// as part of the name.
const asciiNames = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_:")
  asciiNames[character.charCodeAt(0)] = 1;
for (const character of "0123456789.-") asciiNames[character.charCodeAt(0)] = 2;

// Beyond ASCII, as XML 1.0 lists them: first and last character of each range.
const startRanges = [
  0xc0, 0xd6, 0xd8, 0xf6, 0xf8, 0x2ff, 0x370, 0x37d, 0x37f, 0x1fff, 0x200c, 0x200d, 0x2070, 0x218f, 0x2c00, 0x2fef,
  0x3001, 0xd7ff, 0xf900, 0xfdcf, 0xfdf0, 0xfffd, 0x10000, 0xeffff,
];
const continuationRanges = [0xb7, 0xb7, 0x300, 0x36f, 0x203f, 0x2040];

function within(ranges: readonly number[], code: number): boolean {
  for (let index = 0; index < ranges.length; index += 2) {
    if (code >= (ranges[index] ?? 0) && code <= (ranges[index + 1] ?? 0)) return true;
  }
  return false;
}

/** Whether a name could continue at this index: 0 not, 1 also begin there, 2 only continue. */
function nameClass(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 128) return asciiNames[code] ?? 0;
  if (Number.isNaN(code)) return 0;
  const point = text.codePointAt(index) ?? 0;
  if (within(startRanges, point)) return 1;
  return within(continuationRanges, point) ? 2 : 0;
}

/** Whether the character at this index may belong to an XML name. */
export function isName(text: string, index: number): boolean {
  return nameClass(text, index) !== 0;
}

/** The index after the XML name that begins at `start`; `start` itself when none begins there. */
export function scanName(text: string, start: number): number {
  if (nameClass(text, start) !== 1) return start;
  let index = start;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code < 128 ? (asciiNames[code] ?? 0) === 0 : nameClass(text, index) === 0) return index;
    index += code >= 0xd800 && code < 0xdc00 ? 2 : 1;
  }
}

// One native scan of a text costs less than a test per character; lone surrogates are looked for apart, and only in
// texts that have surrogates at all.
// oxlint-disable-next-line no-control-regex
const forbiddenCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
const surrogate = /[\ud800-\udfff]/;
const loneSurrogate = /[\ud800-\udfff]/u;

/** Index of the first character that XML 1.0 cannot hold, not even as a reference; -1 if there is none. */
export function findForbiddenCharacter(text: string): number {
  const control = text.search(forbiddenCharacter);
  if (control !== -1 || !surrogate.test(text)) return control;
  return text.search(loneSurrogate);
}
