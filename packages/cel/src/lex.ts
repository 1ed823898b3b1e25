import type { Dialect } from "./dialect.ts";
import type { Issue } from "./source.ts";

type TokenKind =
  | "identifier"
  | "quoted-identifier"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "quantity"
  | "version"
  | "end"
  // operators, brackets and the words true, false, null, in: their own text
  | "symbol";

export interface Token {
  readonly kind: TokenKind;
  /** The token as written; for a quoted identifier what stands between the quotes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Thrown inside lexer and parser; `parse` turns it into an issue. */
export class SyntaxFailure extends Error {
  readonly issue: Issue;

  constructor(message: string, start: number, end: number) {
    super(message);
    this.issue = { message, range: { start, end } };
  }
}

const words: ReadonlySet<string> = new Set(["true", "false", "null", "in"]);
const symbols = ["==", "!=", "<=", ">=", "&&", "||", ..."<>[]{}().,-!?:+*/%".split("")];
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedIdentifier = /`([A-Za-z0-9_.\-/ ]+)`/y;
const hidden = /(?:[\t \r\n\f]+|\/\/[^\n]*)*/y;
const stringStart = /[bB]?[rR]?(?:"""|'''|"|')/y;
const number = /0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?[uU]?/y;
const versionRest = /\.\d+(?![\w.])/y;
const quantitySuffix = /(?:[KMGTPE]i|[nmkMGTPE])(?![A-Za-z0-9_])/y;

function matchAt(pattern: RegExp, source: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(source);
}

/**
 * Splits an expression into tokens. The relaxed dialect has two more kinds of literal, `8Gi` and `9.0.0`; both are
 * syntax errors in the strict one, so no strict expression changes its meaning.
 */
export function lex(source: string, dialect: Dialect): Token[] {
  const tokens: Token[] = [];
  let offset = skipHidden(source, 0);
  while (offset < source.length) {
    const token = nextToken(source, offset, dialect);
    tokens.push(token);
    offset = skipHidden(source, token.end);
  }
  tokens.push({ kind: "end", text: "<EOF>", start: source.length, end: source.length });
  return tokens;
}

function skipHidden(source: string, offset: number): number {
  matchAt(hidden, source, offset);
  return hidden.lastIndex;
}

function nextToken(source: string, start: number, dialect: Dialect): Token {
  const opening = matchAt(stringStart, source, start);
  if (opening !== null) return stringToken(source, start, opening[0]);
  const name = matchAt(identifier, source, start);
  if (name !== null) {
    const text = name[0];
    return { kind: words.has(text) ? "symbol" : "identifier", text, start, end: start + text.length };
  }
  const digits = matchAt(number, source, start);
  if (digits !== null) return numberToken(source, start, digits[0], dialect);
  const quoted = matchAt(quotedIdentifier, source, start);
  if (quoted !== null) {
    return { kind: "quoted-identifier", text: quoted[1] ?? "", start, end: quotedIdentifier.lastIndex };
  }
  const symbol = symbols.find((candidate) => source.startsWith(candidate, start));
  if (symbol !== undefined) return { kind: "symbol", text: symbol, start, end: start + symbol.length };
  const char = String.fromCodePoint(source.codePointAt(start) ?? 0);
  throw new SyntaxFailure(`Syntax error: token recognition error at: '${char}'`, start, start + char.length);
}

function numberToken(source: string, start: number, text: string, dialect: Dialect): Token {
  const end = start + text.length;
  if (dialect === "relaxed" && /^\d+(?:\.\d+)?$/.test(text)) {
    if (text.includes(".") && matchAt(versionRest, source, end) !== null) {
      return { kind: "version", text: source.slice(start, versionRest.lastIndex), start, end: versionRest.lastIndex };
    }
    if (matchAt(quantitySuffix, source, end) !== null) {
      const stop = quantitySuffix.lastIndex;
      return { kind: "quantity", text: source.slice(start, stop), start, end: stop };
    }
  }
  const kind = /[uU]$/.test(text) ? "uint" : text.startsWith("0x") || /^\d+$/.test(text) ? "int" : "double";
  if (kind === "uint" && /[.eE]/.test(text) && !text.startsWith("0x")) {
    throw new SyntaxFailure(`Syntax error: a uint has no fraction or exponent: '${text}'`, start, end);
  }
  return { kind, text, start, end };
}

function stringToken(source: string, start: number, opening: string): Token {
  const raw = /[rR]/.test(opening);
  const quote = opening.replace(/^[bBrR]+/, "");
  for (let offset = start + opening.length; offset < source.length; offset += 1) {
    const char = source[offset];
    if (char === "\\" && !raw) {
      offset += 1;
    } else if (source.startsWith(quote, offset)) {
      const end = offset + quote.length;
      return { kind: /^[bB]/.test(opening) ? "bytes" : "string", text: source.slice(start, end), start, end };
    } else if (quote.length === 1 && (char === "\n" || char === "\r")) {
      break;
    }
  }
  throw new SyntaxFailure("Syntax error: string is not closed", start, start + opening.length);
}
