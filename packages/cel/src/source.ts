import { characterCount } from "./text.ts";

/** A place in an expression: offsets in UTF-16 units, end exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** One thing wrong with an expression, found while parsing or checking. */
export interface Issue {
  readonly range: Range;
  readonly message: string;
  /** A name that was probably meant. */
  readonly suggestion?: string;
}

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters (code points). */
  readonly column: number;
  readonly text: string;
}

export function positionOf(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const lineEnd = source.indexOf("\n", offset);
  return {
    line: before.split("\n").length,
    column: characterCount(before.slice(lineStart)) + 1,
    text: source.slice(lineStart, lineEnd === -1 ? source.length : lineEnd),
  };
}

interface RenderOptions {
  /** Say what was probably meant; Kubernetes does not. */
  readonly suggestions?: boolean;
}

/** The issue with its line and a caret, the way Kubernetes shows it in a CRD's or policy's status. */
function renderIssue(source: string, issue: Issue, { suggestions }: RenderOptions): string {
  const position = positionOf(source, issue.range.start);
  const text = position.text.replaceAll("\t", " ");
  const dots = ".".repeat(position.column - 1);
  const hint = suggestions === true && issue.suggestion !== undefined ? `, did you mean '${issue.suggestion}'?` : "";
  return `ERROR: <input>:${position.line}:${position.column}: ${issue.message}${hint}\n | ${text}\n | ${dots}^`;
}

export function renderIssues(source: string, issues: readonly Issue[], options: RenderOptions = {}): string {
  return issues.map((issue) => renderIssue(source, issue, options)).join("\n");
}
