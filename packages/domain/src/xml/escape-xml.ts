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

/** Text as element content; `undefined` when it has a character that XML cannot hold. */
export function escapeText(text: string): string | undefined {
  if (findForbiddenCharacter(text) !== -1) return undefined;
  return /[&<>\r]/.test(text) ? text.replace(/[&<>\r]/g, (character) => references[character] ?? "") : text;
}

/** Text as an attribute's value between apostrophes; white space survives as references. */
export function escapeAttribute(text: string): string | undefined {
  if (findForbiddenCharacter(text) !== -1) return undefined;
  return /[&<>'\t\n\r]/.test(text) ? text.replace(/[&<>'\t\n\r]/g, (character) => references[character] ?? "") : text;
}

/** Whether the text is an XML name with at most one prefix. */
export function isXmlName(text: string): boolean {
  return text !== "" && scanName(text, 0) === text.length && /^[^:]+(?::[^:]+)?$/.test(text);
}
