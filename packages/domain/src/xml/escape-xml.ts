import { findForbiddenCharacter, scanName } from "./xml-characters.ts";

const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&apos;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

// What needs a closer look in most texts: nothing. One test then is all it takes.
// oxlint-disable-next-line no-control-regex
const suspicious = /[\u0000-\u001f&<>'\ud800-\udfff\ufffe\uffff]/;

/** Text as element content; `undefined` when it has a character that XML cannot hold. */
export function escapeText(text: string): string | undefined {
  if (!suspicious.test(text)) return text;
  return findForbiddenCharacter(text) === -1 ? text.replace(/[&<>\r]/g, reference) : undefined;
}

/** Text as an attribute's value between apostrophes; white space survives as references. */
export function escapeAttribute(text: string): string | undefined {
  if (!suspicious.test(text)) return text;
  return findForbiddenCharacter(text) === -1 ? text.replace(/[&<>'\t\n\r]/g, reference) : undefined;
}

function reference(character: string): string {
  return references[character] ?? "";
}

/** Whether the text is an XML name with at most one prefix. */
export function isXmlName(text: string): boolean {
  return text !== "" && scanName(text, 0) === text.length && /^[^:]+(?::[^:]+)?$/.test(text);
}
