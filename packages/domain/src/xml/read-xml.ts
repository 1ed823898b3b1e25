import { errors } from "../errors.ts";
import { findForbiddenCharacter, isName, scanName } from "./xml-characters.ts";

/** What the reader returns: cheaper to build and to walk than an `XmlElement`, and it knows where it began. */
export interface XmlNode {
  readonly name: string;
  /** Name, value, name, value, … in document order. */
  readonly attributes: readonly string[];
  readonly children: readonly (XmlNode | string)[];
  /** Index of `<` in the source; `positionOf` turns it into line and column. */
  readonly offset: number;
  /** Whether the element has a prefix or declares a namespace; nearly none does, and readers can be quick about those. */
  readonly namespaced: boolean;
}

/** Bounds on what one document may hold, so that hostile text costs little. */
export interface XmlLimits {
  /** UTF-16 code units of the whole text. */
  readonly maxLength: number;
  readonly maxDepth: number;
  readonly maxAttributes: number;
  readonly maxElements: number;
}

const defaultLimits: XmlLimits = {
  maxLength: 8 * 1024 * 1024,
  maxDepth: 256,
  maxAttributes: 128,
  maxElements: 200_000,
};

const noAttributes: readonly string[] = Object.freeze([]);
const noChildren: readonly (XmlNode | string)[] = Object.freeze([]);

const predefinedEntities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const tab = 9;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const exclamationMark = 33;
const doubleQuote = 34;
const apostrophe = 39;
const slash = 47;
const lessThan = 60;
const equals = 61;
const greaterThan = 62;
const questionMark = 63;

/** Line and column, both counted from 1, of an index into the text. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let next = text.indexOf("\n"); next !== -1 && next < offset; next = text.indexOf("\n", next + 1)) {
    line += 1;
    start = next + 1;
  }
  return { line, column: offset - start + 1 };
}

/**
 * Reads one XML 1.0 document strictly. There are no entities but the five predefined ones and character references; a
 * document type declaration is refused, so nothing can expand or point outside. Comments and processing instructions
 * are checked and dropped. Whitespace between elements stays in the result: what it means depends on the schema.
 */
export function readXml(text: string, limits: Partial<XmlLimits> = {}): XmlNode {
  return new XmlReader(text, { ...defaultLimits, ...limits }).read();
}

class XmlReader {
  private readonly text: string;
  private readonly limits: XmlLimits;
  private at = 0;
  private depth = 0;
  private elements = 0;
  /** Whether the start tag at hand has declared a namespace. */
  private declares = false;

  constructor(text: string, limits: XmlLimits) {
    this.text = text;
    this.limits = limits;
  }

  read(): XmlNode {
    this.checkText();
    if (this.text.charCodeAt(0) === 0xfeff) this.at = 1;
    if (this.text.startsWith("<?xml", this.at) && !isName(this.text, this.at + 5)) this.skipDeclaration();
    this.skipMisc();
    if (this.text.charCodeAt(this.at) !== lessThan) {
      throw this.malformed(this.at, this.at >= this.text.length ? "there is no root element" : "text before the root");
    }
    const root = this.readElement();
    this.skipMisc();
    if (this.at < this.text.length) throw this.malformed(this.at, "content after the root element");
    return root;
  }

  private checkText(): void {
    if (this.text.length > this.limits.maxLength) {
      throw errors.DomainXmlTooLarge(
        `read XML: the text has ${this.text.length} characters, more than the limit of ${this.limits.maxLength}`,
      );
    }
    const forbidden = findForbiddenCharacter(this.text);
    if (forbidden !== -1) {
      const code = this.text.charCodeAt(forbidden).toString(16).toUpperCase().padStart(4, "0");
      throw this.malformed(forbidden, `the character U+${code} is not allowed in XML`);
    }
  }

  private malformed(offset: number, problem: string): Error {
    const { line, column } = positionOf(this.text, offset);
    return errors.DomainXmlMalformed(`read XML, line ${line}:${column}: ${problem}`, { fields: { line, column } });
  }

  private tooLarge(offset: number, problem: string): Error {
    const { line, column } = positionOf(this.text, offset);
    return errors.DomainXmlTooLarge(`read XML, line ${line}:${column}: ${problem}`, { fields: { line, column } });
  }

  private skipWhitespace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== space && code !== lineFeed && code !== tab && code !== carriageReturn) return;
      this.at += 1;
    }
  }

  /** `<?xml version="1.0" encoding="…" standalone="…"?>`: the text is decoded already, so the encoding says nothing. */
  private skipDeclaration(): void {
    const end = this.text.indexOf("?>", this.at);
    if (end === -1) throw this.malformed(this.at, "the XML declaration is not closed");
    const declaration = this.text.slice(this.at, end + 2);
    const wellFormed =
      /^<\?xml\s+version\s*=\s*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:\s+encoding\s*=\s*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>$/;
    if (!wellFormed.test(declaration)) throw this.malformed(this.at, "the XML declaration is not well-formed");
    this.at = end + 2;
  }

  private skipMisc(): void {
    for (;;) {
      this.skipWhitespace();
      if (this.text.charCodeAt(this.at) !== lessThan) return;
      const next = this.text.charCodeAt(this.at + 1);
      if (next === questionMark) this.skipInstruction();
      else if (next === exclamationMark) this.skipComment();
      else return;
    }
  }

  private skipInstruction(): void {
    const end = this.text.indexOf("?>", this.at);
    if (end === -1) throw this.malformed(this.at, "the processing instruction is not closed");
    const nameEnd = scanName(this.text, this.at + 2);
    if (nameEnd === this.at + 2) throw this.malformed(this.at, "the processing instruction has no name");
    if (this.text.slice(this.at + 2, nameEnd).toLowerCase() === "xml") {
      throw this.malformed(this.at, "an XML declaration may only stand at the very beginning");
    }
    this.at = end + 2;
  }

  private skipComment(): void {
    if (!this.text.startsWith("<!--", this.at)) {
      const what = this.text.startsWith("<!DOCTYPE", this.at)
        ? "a document type declaration is not accepted: remove it, entities are not supported"
        : "unknown markup";
      throw this.malformed(this.at, what);
    }
    const end = this.text.indexOf("--", this.at + 4);
    if (end === -1) throw this.malformed(this.at, "the comment is not closed");
    if (this.text.charCodeAt(end + 2) !== greaterThan) throw this.malformed(end, "a comment must not contain --");
    this.at = end + 3;
  }

  private readElement(): XmlNode {
    const offset = this.at;
    const nameEnd = scanName(this.text, offset + 1);
    if (nameEnd === offset + 1) throw this.malformed(offset, "an element's name must follow <");
    const name = this.text.slice(offset + 1, nameEnd);
    this.elements += 1;
    if (this.elements > this.limits.maxElements) {
      throw this.tooLarge(offset, `more than ${this.limits.maxElements} elements`);
    }
    this.at = nameEnd;
    this.declares = false;
    const attributes = this.readAttributes(name, offset);
    const namespaced = this.declares || name.includes(":");
    if (this.text.charCodeAt(this.at) === slash) {
      if (this.text.charCodeAt(this.at + 1) !== greaterThan) throw this.malformed(this.at, "/ must be followed by >");
      this.at += 2;
      return { name, attributes, children: noChildren, offset, namespaced };
    }
    this.at += 1;
    this.depth += 1;
    if (this.depth > this.limits.maxDepth) {
      throw this.tooLarge(offset, `elements are nested more than ${this.limits.maxDepth} deep`);
    }
    const children = this.readContent(name, offset);
    this.depth -= 1;
    return { name, attributes, children, offset, namespaced };
  }

  /** Leaves the position at the `>` or `/` that ends the start tag. */
  private readAttributes(element: string, offset: number): readonly string[] {
    let attributes: string[] | undefined;
    for (;;) {
      const before = this.at;
      this.skipWhitespace();
      const code = this.text.charCodeAt(this.at);
      if (code === greaterThan || code === slash) return attributes ?? noAttributes;
      if (Number.isNaN(code)) throw this.malformed(offset, `the start tag of <${element}> is not closed`);
      const nameEnd = scanName(this.text, this.at);
      if (nameEnd === this.at) throw this.malformed(this.at, `an attribute's name is expected in <${element}>`);
      if (this.at === before) throw this.malformed(this.at, `attributes of <${element}> must be separated by a space`);
      const nameAt = this.at;
      const name = this.text.slice(nameAt, nameEnd);
      this.at = nameEnd;
      const value = this.readAttributeValue(name);
      attributes ??= [];
      if (name.startsWith("xmlns")) this.declares = true;
      for (let index = 0; index < attributes.length; index += 2) {
        if (attributes[index] === name) throw this.malformed(nameAt, `the attribute ${name} is given twice`);
      }
      attributes.push(name, value);
      if (attributes.length > this.limits.maxAttributes * 2) {
        throw this.tooLarge(nameAt, `<${element}> has more than ${this.limits.maxAttributes} attributes`);
      }
    }
  }

  private readAttributeValue(name: string): string {
    this.skipWhitespace();
    if (this.text.charCodeAt(this.at) !== equals) throw this.malformed(this.at, `the attribute ${name} has no value`);
    this.at += 1;
    this.skipWhitespace();
    const quote = this.text.charCodeAt(this.at);
    if (quote !== doubleQuote && quote !== apostrophe) {
      throw this.malformed(this.at, `the value of the attribute ${name} must be quoted`);
    }
    const start = this.at + 1;
    const end = this.text.indexOf(quote === doubleQuote ? '"' : "'", start);
    if (end === -1) throw this.malformed(this.at, `the value of the attribute ${name} is not closed`);
    const raw = this.text.slice(start, end);
    const lessThanAt = raw.indexOf("<");
    if (lessThanAt !== -1) throw this.malformed(start + lessThanAt, `< in the attribute ${name} must be written &lt;`);
    this.at = end + 1;
    // Literal white space becomes spaces; character references to it stay what they are.
    const spaced = /[\t\n\r]/.test(raw) ? raw.replace(/\r\n|[\t\n\r]/g, " ") : raw;
    return spaced.includes("&") ? this.expand(spaced, start) : spaced;
  }

  private readContent(name: string, offset: number): readonly (XmlNode | string)[] {
    const children: (XmlNode | string)[] = [];
    // Text goes on across comments and CDATA sections until the next element.
    let pending = "";
    for (;;) {
      const end = this.text.indexOf("<", this.at);
      if (end === -1) throw this.malformed(offset, `the element <${name}> is not closed`);
      if (end > this.at) pending += this.readText(this.at, end);
      this.at = end;
      const next = this.text.charCodeAt(end + 1);
      if (next === slash) {
        this.readEndTag(name, offset);
        if (pending !== "") children.push(pending);
        return children.length === 0 ? noChildren : children;
      }
      if (next === exclamationMark) {
        if (this.text.startsWith("<![CDATA[", end)) pending += this.readCharacterData();
        else this.skipComment();
      } else if (next === questionMark) {
        this.skipInstruction();
      } else {
        if (pending !== "") children.push(pending);
        pending = "";
        children.push(this.readElement());
      }
    }
  }

  private readText(start: number, end: number): string {
    const raw = this.text.slice(start, end);
    const close = raw.indexOf("]]>");
    if (close !== -1) throw this.malformed(start + close, "]]> in text must be written ]]&gt;");
    const text = raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw;
    return text.includes("&") ? this.expand(text, start) : text;
  }

  private readCharacterData(): string {
    const start = this.at + "<![CDATA[".length;
    const end = this.text.indexOf("]]>", start);
    if (end === -1) throw this.malformed(this.at, "the CDATA section is not closed");
    this.at = end + 3;
    return this.text.slice(start, end).replace(/\r\n?/g, "\n");
  }

  private readEndTag(name: string, offset: number): void {
    const nameAt = this.at + 2;
    if (!this.text.startsWith(name, nameAt) || isName(this.text, nameAt + name.length)) {
      const found = this.text.slice(nameAt, scanName(this.text, nameAt));
      const { line, column } = positionOf(this.text, offset);
      throw this.malformed(this.at, `</${found}> closes <${name}> of line ${line}:${column}`);
    }
    this.at = nameAt + name.length;
    this.skipWhitespace();
    if (this.text.charCodeAt(this.at) !== greaterThan) throw this.malformed(this.at, `</${name}> is not closed`);
    this.at += 1;
  }

  /** Replaces references. `offset` is where the value begins in the text (exact unless line ends were normalised). */
  private expand(value: string, offset: number): string {
    let result = "";
    let from = 0;
    for (let ampersand = value.indexOf("&"); ampersand !== -1; ampersand = value.indexOf("&", from)) {
      const end = value.indexOf(";", ampersand);
      if (end === -1 || end - ampersand > 12) throw this.malformed(offset + ampersand, "& must be written &amp;");
      result += value.slice(from, ampersand) + this.resolve(value.slice(ampersand + 1, end), offset + ampersand);
      from = end + 1;
    }
    return result + value.slice(from);
  }

  private resolve(reference: string, offset: number): string {
    const predefined = predefinedEntities[reference];
    if (predefined !== undefined) return predefined;
    const match = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(reference);
    if (match === null) {
      throw this.malformed(offset, `the entity &${reference}; is not supported: only the five predefined ones are`);
    }
    const code = match[1] === undefined ? Number.parseInt(match[2] ?? "", 10) : Number.parseInt(match[1], 16);
    const character = code <= 0x10ffff ? String.fromCodePoint(code) : "";
    if (character === "" || findForbiddenCharacter(character) !== -1) {
      throw this.malformed(offset, `the reference &${reference}; names a character that XML does not allow`);
    }
    return character;
  }
}
